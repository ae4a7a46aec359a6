#include "trace/atoms.h"

#include <algorithm>

namespace cleave {

AtomMap::Page* AtomMap::page_slowly(uint64_t number) {
  auto it = pages_.find(number);
  if (it == pages_.end()) return nullptr;
  cache_[number & (kLines - 1)] = {number, it->second};
  return it->second;
}

AtomMap::Page& AtomMap::make_page(uint64_t address) {
  constexpr size_t kFirstLot = 16, kLargestLot = 4096;
  Page*& page = pages_[address >> 12];
  if (page != nullptr) return *page;
  if (left_ == 0) {
    left_ = lots_.empty() ? kFirstLot : std::min(2 * lots_.back().size(), kLargestLot);
    lots_.emplace_back(left_);
  }
  return *(page = &lots_.back()[lots_.back().size() - left_--]);
}

void AtomMap::collect(uint64_t address, std::vector<uint32_t>& out) {
  Page* page = page_of(address);
  if (page == nullptr) return;
  size_t before = out.size();
  for (uint32_t next = page->first[address >> 3 & 511]; next != 0; next = atoms_[next - 1].next) {
    out.push_back(next - 1);  // eight at most
    for (size_t i = out.size() - 1; i > before && atoms_[out[i]].address < atoms_[out[i - 1]].address; --i)
      std::swap(out[i], out[i - 1]);
  }
}

uint32_t AtomMap::add(uint64_t address, uint32_t bytes) {
  uint32_t& first = make_page(address).first[address >> 3 & 511];
  atoms_.push_back({.address = address, .next = first, .size = static_cast<uint8_t>(bytes)});
  first = static_cast<uint32_t>(atoms_.size());
  return first - 1;
}

void AtomMap::retire(uint32_t id) {
  Page* page = page_of(atoms_[id].address);
  if (page == nullptr) return;
  for (uint32_t* next = &page->first[atoms_[id].address >> 3 & 511]; *next != 0;
       next = &atoms_[*next - 1].next) {
    if (*next != id + 1) continue;
    *next = atoms_[id].next;
    return;
  }
}

void AtomMap::forget(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes;
  auto clear = [&](uint64_t number, Page& page) {
    uint64_t base = number << 12;
    uint64_t from = std::max(address, base), to = std::min(end - 1, base + 4095);
    for (uint64_t word = from >> 3 & 511; word <= (to >> 3 & 511); ++word) page.first[word] = 0;
  };
  uint64_t first = address >> 12, last = (end - 1) >> 12;
  if (last - first < pages_.size()) {
    for (uint64_t number = first; number <= last; ++number) {
      auto it = pages_.find(number);
      if (it != pages_.end()) clear(number, *it->second);
    }
    return;
  }
  for (auto& [number, page] : pages_) {
    if (number >= first && number <= last) clear(number, *page);
  }
}

}  // namespace cleave
