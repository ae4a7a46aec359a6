// Which memory belongs to which variable: atoms, the pieces of memory that no access so far has split, each
// within one aligned word of 8 bytes, or a stretch: several whole words of one page that were only ever
// copied or filled together. An access with other bounds than the atoms it meets splits them; memory that was
// given back is forgotten, so that reused addresses are different variables.
//
// A shadow of pages holds for each word its first atom; atoms of one word are chained, a stretch stands alone
// in each of its words. One lookup is a cache of pages, one load and one comparison. Memory: 4 bytes for each
// word of a touched page and 32 for each variable.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "base/huge_pages.h"
#include "base/ids.h"
#include "trace/core/no_value.h"

namespace cleave {

struct Atom {
  uint64_t address = 0;
  uint64_t value = 0;  // what it holds at this place of the trace; of a stretch, where Contents has that
  uint32_t next = 0;   // 1 + index of the next atom of the same word, 0 at the end
  uint32_t last = UINT32_MAX;  // thread that touched it last
  uint32_t size = 0;
  bool known = false;   // value is known
  bool shared = false;  // more than one thread has touched it
  bool freed = false;   // a stretch: its memory was given back and nobody has written it since

  bool stretch() const { return size > 8; }
  uint64_t end() const { return address + size; }
};
static_assert(sizeof(Atom) == 32);

inline uint64_t low_bytes(uint64_t value, uint32_t bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << (bytes * 8)) - 1);
}

// What the `bytes` bytes from bit `shift` on hold where the whole holds `value`.
inline uint64_t part_of(uint64_t value, uint32_t shift, uint32_t bytes) {
  return value == kFreed ? kFreed : low_bytes(value >> shift, bytes);
}

// What stretches hold, as far as it is known.
class Contents {
 public:
  // The number of a copy of them.
  uint64_t put(const uint8_t* data, size_t bytes);
  void drop(uint64_t number) { free_.push_back(number); }
  const uint8_t* operator[](uint64_t number) const { return all_[number].data(); }

 private:
  std::vector<std::vector<uint8_t>> all_;
  std::vector<uint64_t> free_;
};

class AtomMap {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;
  // Index equals VariableId. Retired atoms stay, unreachable, until their id is used again.
  Atom& operator[](uint32_t id) { return atoms_[id]; }
  size_t size() const { return atoms_.size(); }
  // They do not stay in the cache by themselves.
  bool large() const { return atoms_.size() > kLarge; }

  // The atom with exactly these bounds, or null: then the caller goes the slow way.
  Atom* find(uint64_t address, uint32_t bytes) {
    Page* page = page_of(address);
    if (page == nullptr) return nullptr;
    uint32_t next = page->first[address >> 3 & 511];
    if (next == 0) return nullptr;
    // Of two halves of a word it is as often the one as the other: chosen without a branch, which would be
    // guessed wrong.
    const Atom& half = atoms_[next - 1];
    const bool other = (half.address != address) & (half.next != 0);
    next = __builtin_unpredictable(other) ? half.next : next;
    for (; next != 0; next = atoms_[next - 1].next) {
      Atom& atom = atoms_[next - 1];
      if (atom.address == address && atom.size == bytes) return &atom;
    }
    return nullptr;
  }
  // What find() will touch first, and what it will touch then, is fetched into the cache.
  void prefetch_word(uint64_t address) const {
    const CacheLine& line = cache_[address >> 12 & (kLines - 1)];
    if (line.number == address >> 12) __builtin_prefetch(&line.page->first[address >> 3 & 511]);
  }
  void prefetch_atom(uint64_t address) const {
    const CacheLine& line = cache_[address >> 12 & (kLines - 1)];
    if (line.number != address >> 12) return;
    uint32_t next = line.page->first[address >> 3 & 511];
    if (next != 0) __builtin_prefetch(&atoms_[next - 1], 1);
  }
  // The stretch that covers the word of `address`, or kNobody.
  uint32_t stretch_at(uint64_t address) {
    Page* page = page_of(address);
    uint32_t first = page != nullptr ? page->first[address >> 3 & 511] : 0;
    return first != 0 && atoms_[first - 1].stretch() ? first - 1 : kNobody;
  }
  // How many bytes from the beginning of a word on belong to no atom: whole words, up to the end of the page
  // or `end`.
  uint64_t empty_bytes(uint64_t address, uint64_t end);
  uint32_t id_of(const Atom* atom) const { return static_cast<uint32_t>(atom - atoms_.data()); }

  // Ids of the atoms of the word that holds `address`, by address.
  void collect(uint64_t address, std::vector<uint32_t>& out);
  // A new atom within one word, or a stretch; the caller has seen to it that nothing is there. `id` is that
  // of a retired one, or the next. Invalidates Atom pointers.
  void add(uint32_t id, uint64_t address, uint32_t bytes);
  // Takes the atom out of its word, so that its parts can be added.
  void retire(uint32_t id);
  // Numbers (address >> 12) of the pages in [address, address + bytes) on which there may be atoms,
  // ascending.
  std::vector<uint64_t> pages_in(uint64_t address, uint64_t bytes) const;
  // Ids of the atoms that lie in [address, address + bytes), or in part, by address.
  void collect_range(uint64_t address, uint64_t bytes, std::vector<uint32_t>& out) const;
  // Forgets all atoms of the words that [address, address + bytes) touches; their ids are appended to
  // `ended`, if given. No stretch may lie across the bounds.
  void forget(uint64_t address, uint64_t bytes, std::vector<VariableId>* ended = nullptr);

 private:
  struct Page {
    uint32_t first[512] = {};
  };
  Page* page_of(uint64_t address) {
    uint64_t number = address >> 12;
    CacheLine& line = cache_[number & (kLines - 1)];
    if (line.number == number) return line.page;
    return page_slowly(number);
  }
  Page* page_slowly(uint64_t number);
  Page& make_page(uint64_t address);

  struct CacheLine {
    uint64_t number = UINT64_MAX;
    Page* page = nullptr;
  };
  static constexpr size_t kLines = 1024;
  static constexpr size_t kLarge = 8192;
  std::vector<CacheLine> cache_ = std::vector<CacheLine>(kLines);
  boost::unordered_flat_map<uint64_t, Page*> pages_;
  // Where the pages stand: many at a time, each lot twice as large as the one before.
  std::vector<std::vector<Page, HugePageAllocator<Page>>> lots_;
  size_t left_ = 0;  // pages of the last lot that are not used yet
  std::vector<Atom, HugePageAllocator<Atom>> atoms_;
};

}  // namespace cleave
