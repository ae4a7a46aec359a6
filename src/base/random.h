// A small, fast, seedable generator whose sequence is the same on every machine (splitmix64).
#pragma once

#include <cstdint>

namespace cleave {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  // Uniform enough in [0, bound); bound must not be 0.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  bool chance(uint64_t numerator, uint64_t denominator) { return below(denominator) < numerator; }

 private:
  uint64_t state_;
};

}  // namespace cleave
