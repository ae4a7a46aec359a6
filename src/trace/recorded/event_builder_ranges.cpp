// Ranges of memory that are read or written at once: copies, fills, comparisons, strings.
//
// Word by word, a copied buffer is as many locations as it has words. Where events are judged as they come a
// range makes stretches instead: locations of several words. All accesses of a location have the same bounds,
// so what is found is the same: an access with other bounds first cuts the stretches that it meets, and what
// was known of a stretch holds for its parts.
#include <algorithm>
#include <cstring>

#include "abi/hooks.h"
#include "trace/core/no_value.h"
#include "trace/recorded/event_builder.h"

namespace cleave {
namespace {

constexpr uint64_t kLongestRange =
    64 * 1024;  // beyond this a range touches only memory that is known already

}  // namespace

void EventBuilder::stretch_ranges() {
  CLEAVE_CHECK(directory_.reuses_ids(), "stretches are for those who judge events as they come");
  stretches_ = true;
  directory_.on_cut([this](VariableId stretch, std::span<const uint64_t> bounds) {
    // It may be the one that is being cut already, when its parts tell what lies there.
    if (atoms_.stretch_at(bounds.front()) == raw(stretch)) split(raw(stretch), bounds, {});
  });
}

// The last event wrote what nobody knows.
void EventBuilder::written_unseen(Atom& atom) {
  atom.known = false;
  if (origins_) unknown_writes_[atoms_.id_of(&atom)] = given_ + current_.events.size() - 1;
}

// A range is an access of every atom in it. Contents beyond CLEAVE_RANGE_INLINE are not in the trace: a read
// is then taken to have found what was there, a write to have written what the next read finds (learned()).
void EventBuilder::range(Thread& thread, bool write, std::span<const uint64_t> words) {
  if (words.size() < 4) return;
  TableSite site = hook_site(words[1]);
  uint64_t address = words[2], bytes = words[3];
  if (address < 4096 || bytes > (uint64_t{1} << 47) || address + bytes < address) return;
  bool contents = bytes <= CLEAVE_RANGE_INLINE && words.size() >= 4 + (bytes + 7) / 8;
  auto* data = reinterpret_cast<const uint8_t*>(words.data() + 4);
  Event event{.kind = write ? EventKind::Write : EventKind::Read, .thread = thread.id};
  if (site) {
    event.site = directory_.site(*site.module, site.site);
    event.context =
        thread.stack.context(contexts_, *site.module, site.module->tables.sites[site.site].inlined_at);
  }
  site.address = address;
  site.bytes = bytes;
  if (bytes <= kLongestRange)
    return range_part(thread, event, site, address, address + bytes, true, contents ? data : nullptr);
  for (uint64_t page : atoms_.pages_in(address, bytes)) {
    uint64_t from = std::max(address, page << 12), to = std::min(address + bytes, (page + 1) << 12);
    range_part(thread, event, site, from, to, false, nullptr);
  }
}

// `fill`: memory that nobody has touched becomes variables. `contents`: of the part, if they are known.
void EventBuilder::range_part(Thread& thread, const Event& event, TableSite site, uint64_t address,
                              uint64_t end, bool fill, const uint8_t* contents) {
  const bool write = event.kind == EventKind::Write;
  if (stretches_) cut_at_bounds(address, end);
  for (uint64_t at = address; at < end;) {
    const uint8_t* found = contents != nullptr ? contents + (at - address) : nullptr;
    if (stretches_ && (at & 7) == 0 && end - at >= 8) {
      if (uint32_t stretch = stretch_for(at, end, fill, site); stretch != AtomMap::kNobody) {
        touch_stretch(thread, event, atoms_[stretch], found);
        at = atoms_[stretch].end();
        continue;
      }
    }
    auto here = static_cast<uint32_t>(std::min<uint64_t>(end - at, 8 - (at & 7)));
    uint64_t value = 0;
    if (found != nullptr) std::memcpy(&value, found, here);
    if (Atom* atom = atoms_.find(at, here)) {
      touch(thread, event, *atom, contents || write ? value : atom->value, 0);
      if (!contents && write) written_unseen(*atom);
      at += here;
      continue;
    }
    resolve(at, here, fill, site, write || !contents ? nullptr : &value);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece piece = pieces_[i];
      Atom& atom = atoms_[piece.id];
      uint64_t part = low_bytes(value >> (piece.offset * 8u), piece.bytes);
      if (!contents && !write) part = atom.value;
      touch(thread, event, atom, part, 0);
      if (!contents && write) written_unseen(atom);
    }
    at += here;
  }
}

// The stretch that begins at `at` and of which nothing lies beyond `end`, if there is one or, with `fill`,
// one can be made.
uint32_t EventBuilder::stretch_for(uint64_t at, uint64_t end, bool fill, TableSite site) {
  if (uint32_t there = atoms_.stretch_at(at); there != AtomMap::kNobody || !fill) return there;
  uint64_t bytes = atoms_.empty_bytes(at, end);
  if (bytes < AddressSpace::kLeastStretch) return AtomMap::kNobody;
  VariableId made = directory_.add_stretch(at, bytes, site);
  atoms_.add(raw(made), at, builder_.tables().variable(made).size);
  return atoms_.stretch_at(at);  // or it is a word
}

void EventBuilder::touch_stretch(Thread& thread, const Event& event, Atom& atom, const uint8_t* found) {
  if (atom.known && found != nullptr && event.kind == EventKind::Read) {
    if (std::memcmp(contents_[atom.value], found, atom.size) != 0) note_unexplained(event.site);
  }
  if (event.kind == EventKind::Write) atom.freed = false;
  if (!atom.freed && (found != nullptr || event.kind == EventKind::Write)) keep_contents(atom, found);
  hold(thread, atom);
  emit(thread, event.kind, event.site, event.context, atoms_.id_of(&atom), UINT32_MAX,
       atom.freed ? kFreed : kNoValue, 0);
}

// `data`: null if nobody knows.
void EventBuilder::keep_contents(Atom& stretch, const uint8_t* data) {
  if (stretch.known) contents_.drop(stretch.value);
  stretch.known = data != nullptr;
  stretch.value = data != nullptr ? contents_.put(data, stretch.size) : 0;
}

// Cuts the stretches that lie across the bounds of [address, end), so that what is left of them lies within
// or outside. Of a word that is only in part within the range it becomes an atom of its own.
void EventBuilder::cut_at_bounds(uint64_t address, uint64_t end) {
  const uint64_t wanted[] = {address & ~uint64_t{7}, (address + 7) & ~uint64_t{7}, end & ~uint64_t{7},
                             (end + 7) & ~uint64_t{7}};
  for (uint64_t bound : wanted) {
    uint32_t id = atoms_.stretch_at(bound);
    if (id == AtomMap::kNobody || atoms_[id].address == bound) continue;
    const Atom stretch = atoms_[id];
    bounds_.assign(1, stretch.address);
    for (uint64_t inner : wanted) {
      if (inner > bounds_.back() && inner < stretch.end()) bounds_.push_back(inner);
    }
    bounds_.push_back(stretch.end());
    split(id, bounds_, {});
  }
}

// An access of a word or less meets a stretch: what lies around the word is words from now on, since the next
// ones are likely to be accessed so too. More than that would make a look at one word of a buffer as dear as
// the buffer is large.
void EventBuilder::break_stretch(uint64_t address, TableSite site) {
  constexpr uint64_t kAround = 64;
  const uint32_t id = atoms_.stretch_at(address);
  if (id == AtomMap::kNobody) return;
  const Atom stretch = atoms_[id];
  bounds_.assign(1, stretch.address);
  const uint64_t begin = address & ~(kAround - 1);
  for (uint64_t at = std::max(begin, stretch.address + 8); at <= begin + kAround && at < stretch.end();
       at += 8) {
    if (at > bounds_.back()) bounds_.push_back(at);
  }
  bounds_.push_back(stretch.end());
  split(id, bounds_, site);
}

}  // namespace cleave
