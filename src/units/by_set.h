// What is known for each of a few sets. A walk over a list of objects touches as many sets as there are
// objects: those are found by hashing.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "units/instances.h"

namespace cleave {

// Entries have a member `set`, each another one. They stand in the order in which they came. Memory stays for
// the next use.
template <typename Entry>
class BySet {
 public:
  Entry* find(SetId set) {
    if (places_.empty()) {
      for (Entry& entry : all_) {
        if (entry.set == set) return &entry;
      }
      return nullptr;
    }
    auto it = places_.find(raw(set));
    return it == places_.end() ? nullptr : &all_[it->second];
  }
  const Entry* find(SetId set) const { return const_cast<BySet*>(this)->find(set); }
  Entry& add(const Entry& entry) {
    all_.push_back(entry);
    if (all_.size() >= kMany) [[unlikely]]
      index();
    return all_.back();
  }
  // All but the first `kept` of which `goes` says so.
  template <typename Goes>
  void erase_if(Goes&& goes, size_t kept = 0) {
    if (all_.size() <= kept) return;
    all_.erase(std::remove_if(all_.begin() + static_cast<ptrdiff_t>(kept), all_.end(), goes), all_.end());
    places_.clear();
    if (all_.size() >= kMany) index();
  }
  void clear() {
    all_.clear();
    if (!places_.empty()) [[unlikely]]
      places_ = {};
  }
  std::vector<Entry>& all() { return all_; }
  const std::vector<Entry>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  size_t size() const { return all_.size(); }

 private:
  static constexpr size_t kMany = 16;
  void index() {
    for (size_t i = places_.size(); i < all_.size(); ++i)
      places_.emplace(raw(all_[i].set), static_cast<uint32_t>(i));
  }

  std::vector<Entry> all_;
  boost::unordered_flat_map<uint32_t, uint32_t> places_;  // empty as long as they are few
};

}  // namespace cleave
