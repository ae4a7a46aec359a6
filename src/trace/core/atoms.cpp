#include "trace/core/atoms.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace cleave {

uint64_t Contents::put(const uint8_t* data, size_t bytes) {
  if (free_.empty()) {
    free_.push_back(all_.size());
    all_.emplace_back();
  }
  uint64_t number = free_.back();
  free_.pop_back();
  all_[number].assign(data, data + bytes);
  return number;
}

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

void AtomMap::add(uint32_t id, uint64_t address, uint32_t bytes) {
  CLEAVE_CHECK(id <= atoms_.size(), "atoms and variables are numbered alike");
  uint32_t& first = make_page(address).first[address >> 3 & 511];
  if (id == atoms_.size()) atoms_.emplace_back();
  atoms_[id] = {.address = address, .next = bytes > 8 ? 0 : first, .size = bytes};
  if (bytes > 8)
    CLEAVE_CHECK(((address | bytes) & 7) == 0 && (address & 4095) + bytes <= 4096, "words of one page");
  std::fill_n(&first, std::max<uint32_t>(bytes / 8, 1), id + 1);
}

uint64_t AtomMap::empty_bytes(uint64_t address, uint64_t end) {
  end = std::min(end, (address | 4095) + 1) & ~uint64_t{7};
  if (end <= address) return 0;
  Page* page = page_of(address);
  if (page == nullptr) return end - address;
  const uint32_t *first = &page->first[address >> 3 & 511], *last = first + (end - address) / 8;
  return static_cast<uint64_t>(std::find_if(first, last, [](uint32_t atom) { return atom != 0; }) - first) *
         8;
}

void AtomMap::retire(uint32_t id) {
  Page* page = page_of(atoms_[id].address);
  if (page == nullptr) return;
  if (atoms_[id].stretch()) {
    std::fill_n(&page->first[atoms_[id].address >> 3 & 511], atoms_[id].size / 8, 0);
    return;
  }
  for (uint32_t* next = &page->first[atoms_[id].address >> 3 & 511]; *next != 0;
       next = &atoms_[*next - 1].next) {
    if (*next != id + 1) continue;
    *next = atoms_[id].next;
    return;
  }
}

std::vector<uint64_t> AtomMap::pages_in(uint64_t address, uint64_t bytes) const {
  std::vector<uint64_t> found;
  if (bytes == 0) return found;
  uint64_t first = address >> 12, last = (address + bytes - 1) >> 12;
  if (last - first < pages_.size()) {
    for (uint64_t number = first; number <= last; ++number) {
      if (pages_.contains(number)) found.push_back(number);
    }
    return found;
  }
  for (const auto& [number, page] : pages_) {
    if (number >= first && number <= last) found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void AtomMap::collect_range(uint64_t address, uint64_t bytes, std::vector<uint32_t>& out) const {
  const uint64_t end = address + bytes;
  for (uint64_t number : pages_in(address, bytes)) {
    const Page& page = *pages_.find(number)->second;
    const uint64_t from = std::max(address, number << 12), to = std::min(end - 1, number << 12 | 4095);
    for (uint64_t word = from >> 3; word <= to >> 3; ++word) {
      for (uint32_t next = page.first[word & 511]; next != 0; next = atoms_[next - 1].next) {
        const Atom& atom = atoms_[next - 1];
        if (atom.address >= end || atom.end() <= address) continue;
        if (!atom.stretch() || atom.address == word << 3) out.push_back(next - 1);
      }
    }
  }
}

void AtomMap::forget(uint64_t address, uint64_t bytes, std::vector<VariableId>* ended) {
  if (bytes == 0) return;
  uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes;
  auto clear = [&](uint64_t number, Page& page) {
    uint64_t base = number << 12;
    uint64_t from = std::max(address, base), to = std::min(end - 1, base + 4095);
    for (uint64_t word = from >> 3 & 511; word <= (to >> 3 & 511); ++word) {
      uint32_t next = std::exchange(page.first[word], 0);
      if (ended == nullptr) continue;
      for (; next != 0; next = atoms_[next - 1].next) {
        const Atom& atom = atoms_[next - 1];
        if (!atom.stretch() || atom.address == (base | word << 3)) ended->push_back(VariableId{next - 1});
      }
    }
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
