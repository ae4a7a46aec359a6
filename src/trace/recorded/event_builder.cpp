#include "trace/recorded/event_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/core/no_value.h"

namespace cleave {
namespace {

constexpr size_t kUsualBatch = 4096 + 256;    // events: what the reader asks for, and the end of a segment
constexpr uint32_t kDirectThreads = 1 << 16;  // thread numbers below this are looked up in an array

}  // namespace

EventBuilder::EventBuilder(TraceBuilder& builder, const TraceFile& file, bool origins)
    : builder_(builder), file_(file), directory_(builder), contexts_(builder, directory_), origins_(origins) {
  refresh();
}

void EventBuilder::refresh() {
  const std::deque<Module>& modules = file_.modules().all();
  for (; modules_seen_ < modules.size(); ++modules_seen_) directory_.add_module(modules[modules_seen_]);
}

void EventBuilder::reuse_ids() {
  CLEAVE_CHECK(!origins_, "a loaded trace has an id for everything there ever was");
  directory_.reuse_ids(current_.freed);
}

void EventBuilder::give_back(const FreedIds& ids) {
  for (SyncId sync : ids.syncs) tokens_.erase(raw(sync));
  directory_.give_back(ids);
}

EventBuilder::Thread& EventBuilder::thread(uint32_t number) {
  if (number < kDirectThreads && number >= by_number_.size()) by_number_.resize(number + 1);
  Thread*& known = number < kDirectThreads ? by_number_[number] : by_high_number_[number];
  if (known == nullptr) {
    Thread& made = threads_.emplace_back();
    made.id = builder_.add_thread(
        {.name = number == 0 ? "main" : fmt::format("T{}", number), .path = number == 0 ? "0" : ""});
    known = &made;
  }
  return *known;
}

Batch EventBuilder::take_current() {
  Batch taken = std::move(current_);
  current_ = std::move(spare_);
  current_.clear();
  current_.events.reserve(kUsualBatch);
  given_ += taken.events.size();
  return taken;
}

// More branches than an event can tell of stand in an event of their own.
void EventBuilder::emit_branches(Thread& thread) {
  *current_.events.append() = {.kind = EventKind::Branch, .thread = thread.id, .value = thread.branches};
  if (origins_) current_.origins.push_back(thread.origin);
  thread.branches = 0;
}

// `value` is the part of the event's value that falls on this atom, `old_value` what an update read of it.
void EventBuilder::touch(Thread& thread, const Event& event, Atom& atom, uint64_t value, uint64_t old_value) {
  uint32_t id = atoms_.id_of(&atom);
  if (reads(event.kind)) {
    if (atom.known && atom.value == kFreed) [[unlikely]] {
      old_value = kFreed;
      if (event.kind == EventKind::Read) value = kFreed;
    }
    uint64_t seen = event.kind == EventKind::Update ? old_value : value;
    if (!atom.known) [[unlikely]] {
      auto unknown = unknown_writes_.find(id);
      if (unknown != unknown_writes_.end()) {
        learned_.emplace_back(unknown->second, seen);
        unknown_writes_.erase(unknown);
      }
    } else if (atom.value != seen) [[unlikely]] {
      note_unexplained(event.site);
    }
  }
  atom.value = value;
  atom.known = true;
  hold(thread, atom);
  Event* at = append(thread);
  *at = event;
  at->branches = take_branches(thread);
  at->object = id;
  at->value = value;
  at->width_and_order = static_cast<uint8_t>((event.width_and_order & 0xe0u) | atom.size);
  if (event.kind == EventKind::Update) {
    current_.old_values.emplace_back(static_cast<uint32_t>(current_.events.size() - 1), old_value);
  }
}

void EventBuilder::access(Thread& thread, Event& event, uint64_t address, uint32_t bytes, uint64_t old_value,
                          TableSite site) {
  Atom* atom = atoms_.find(address, bytes);
  if (atom != nullptr) [[likely]] {
    touch(thread, event, *atom, low_bytes(event.value, bytes), low_bytes(old_value, bytes));
    return;
  }
  access_slowly(thread, event, address, bytes, old_value, site);
}

namespace {

// An event as four words, each stored at once: what it is and whose, where it is, what it is of, and the
// value.
void put(Event* at, EventKind kind, uint32_t width, uint64_t branches, ThreadId thread, uint64_t place,
         uint32_t object, uint64_t value) {
  static_assert(
      offsetof(Event, kind) == 0 && offsetof(Event, width_and_order) == 1 && offsetof(Event, branches) == 2 &&
      offsetof(Event, thread) == 4 && offsetof(Event, site) == 8 && offsetof(Event, context) == 12 &&
      offsetof(Event, object) == 16 && offsetof(Event, object2) == 20 && offsetof(Event, value) == 24);
  const uint64_t what =
      static_cast<uint64_t>(kind) | width << 8 | branches << 16 | uint64_t{raw(thread)} << 32;
  const uint64_t words[4] = {what, place, object | uint64_t{UINT32_MAX} << 32, value};
  std::memcpy(at, words, sizeof words);
}

}  // namespace

// Reads and writes of a whole record, as long as each is of an atom that is there and asks for nothing: the
// hot part of segment(), which goes on where this stops.
size_t EventBuilder::usual_accesses(Thread& thread, const SegmentPlan& plan, const uint64_t* words,
                                    size_t from, size_t to, Caution caution) {
  const SiteId* sites = directory_.sites(*plan.module);
  uint64_t branches = thread.branches;
  if (sites == nullptr || branches > UINT16_MAX) return from;
  Event *const begin = current_.events.room(to - from), *at = begin;
  uint32_t context_of = kNoIndex;  // inlined_at of the slot that `context` was asked for
  ContextId context = thread.stack.context(contexts_, *plan.module, kNoIndex);
  size_t i = from;
  for (; i < to; ++i) {
    const SlotPlan& slot = plan.slots[i];
    if (slot.kind > SlotKind::Write || slot.site == kNoIndex) break;
    uint64_t address = slot.address_constant;
    if (slot.address_source == Source::Word) {
      const uint64_t word = words[slot.address_index];
      if (word == 0) break;
      address += word;
    }
    if (address < 4096) break;
    Atom* atom = atoms_.find(address, slot.width);
    if (atom == nullptr) break;
    const uint64_t value = low_bytes(
        slot.value_source == Source::Word ? words[slot.value_index] : slot.value_constant, slot.width);
    const bool same = atom->known && atom->value == value;
    const bool read = slot.kind == SlotKind::Read;
    if (!same && (read || (caution == Caution::All && atom->shared && atom->known))) break;
    const SiteId site = sites[slot.site];
    if (site == kNone<SiteId>) break;
    if (slot.inlined_at != context_of) {
      context_of = slot.inlined_at;
      context = thread.stack.context(contexts_, *plan.module, slot.inlined_at);
    }
    atom->value = value;
    atom->known = true;
    hold(thread, *atom);
    put(at++, read ? EventKind::Read : EventKind::Write, slot.width, std::exchange(branches, 0), thread.id,
        raw(site) | uint64_t{raw(context)} << 32, atoms_.id_of(atom), value);
  }
  thread.branches = branches;
  current_.events.filled(static_cast<size_t>(at - begin));
  return i;
}

namespace {

// How many slots of a segment that was interrupted took place: up to the access that faulted, or as far as
// words were stored. A read without its value is among them if it is the one that faulted.
size_t reached_slots(const SegmentPlan& plan, const uint64_t* words, const EventBuilder::Reach& reach) {
  size_t reached = 0, faulted = 0;
  for (; reached < plan.slots.size(); ++reached) {
    const SlotPlan& slot = plan.slots[reached];
    uint64_t address = slot.address_constant;
    if (slot.address_source == Source::Word) {
      if (slot.address_index >= reach.valid) break;
      address += words[slot.address_index];
    }
    const bool here = slot.kind <= SlotKind::Write && reach.fault != 0 && address <= reach.fault &&
                      reach.fault < address + slot.width;
    if (slot.value_source == Source::Word && slot.value_index >= reach.valid) {
      if (here && slot.kind == SlotKind::Read) return reached + 1;
      break;
    }
    if (here && slot.kind == SlotKind::Write) faulted = reached + 1;
  }
  return faulted != 0 ? faulted : reached;
}

}  // namespace

size_t EventBuilder::segment(Thread& thread, const SegmentPlan& plan, const uint64_t* words, Reach reach,
                             size_t from, size_t to, Caution caution, size_t clear) {
  if (!plan.events) return to;
  constexpr uint32_t kNotAsked = kNoIndex - 1;
  const bool whole = reach.valid >= plan.words && reach.fault == 0;
  const size_t end = whole ? to : std::min(to, reached_slots(plan, words, reach));
  const SiteId* sites = directory_.sites(*plan.module);
  ContextId context = kNone<ContextId>;
  uint32_t context_of = kNotAsked;  // inlined_at of the slot that `context` was asked for
  const bool usual = whole && !origins_;
  for (size_t i = from; i < end; ++i) {
    if (usual && plan.slots[i].kind <= SlotKind::Write && i != clear) {
      i = usual_accesses(thread, plan, words, i, to, caution);
      if (i == to) return to;
    }
    const SlotPlan& slot = plan.slots[i];
    uint64_t address = slot.address_constant;
    if (slot.address_source == Source::Word) {
      if (words[slot.address_index] == 0) return to;  // and nothing after it
      address += words[slot.address_index];
    }
    uint64_t value = slot.value_source == Source::Word ? words[slot.value_index] : slot.value_constant;
    if (slot.kind > SlotKind::Write) {
      if (origins_) thread.origin.slot = static_cast<uint32_t>(i);
      this->slot(thread, plan, slot, address, value);
      context_of = kNotAsked;
      continue;
    }
    if (address < 4096) continue;
    const bool read = slot.kind == SlotKind::Read;
    Atom* atom = atoms_.find(address, slot.width);
    if (atom == nullptr && stretches_) [[unlikely]] {
      break_stretch(address, {plan.module, slot.site});
      atom = atoms_.find(address, slot.width);
    }
    if (slot.value_source == Source::Word && slot.value_index >= reach.valid)
      value = atom != nullptr ? atom->value : 0;  // it faulted
    value = low_bytes(value, slot.width);
    if (caution != Caution::None && i != clear && calls_for_caution(atom, slot.kind, value, caution))
      return i;
    if (origins_) thread.origin.slot = static_cast<uint32_t>(i);
    if (slot.inlined_at != context_of) {
      context_of = slot.inlined_at;
      context = thread.stack.context(contexts_, *plan.module, slot.inlined_at);
    }
    SiteId site = sites != nullptr && slot.site != kNoIndex ? sites[slot.site] : kNone<SiteId>;
    if (site == kNone<SiteId>) [[unlikely]] {
      site = directory_.site(*plan.module, slot.site);
      sites = directory_.sites(*plan.module);
    }
    const EventKind kind = read ? EventKind::Read : EventKind::Write;
    Event event{.kind = kind, .thread = thread.id, .site = site, .context = context, .value = value};
    if (atom != nullptr) {
      touch(thread, event, *atom, value, 0);
    } else {
      access_slowly(thread, event, address, slot.width, 0, {plan.module, slot.site});
    }
  }
  return to;
}

namespace {

// Whether units were begun above this depth of the stack and are open: few returns leave any, and none needs
// to know where it is then.
bool leaves_units(const EventBuilder::Thread& thread, size_t depth) {
  return !thread.units.empty() && thread.units.back().depth > depth;
}

}  // namespace

void EventBuilder::slot(Thread& thread, const SegmentPlan& plan, const SlotPlan& slot, uint64_t,
                        uint64_t value) {
  auto at = [&] {
    return Place{directory_.site(*plan.module, slot.site),
                 thread.stack.context(contexts_, *plan.module, slot.inlined_at)};
  };
  switch (slot.kind) {
    case SlotKind::Enter:
      thread.stack.enter(slot.value_source == Source::None ? 0 : value);
      break;
    case SlotKind::Exit:
      if (leaves_units(thread, thread.stack.depth() - 1)) close_units(thread, thread.stack.depth() - 1, at());
      thread.stack.exit();
      break;
    case SlotKind::Landing:
      thread.stack.land(value);
      if (leaves_units(thread, thread.stack.depth())) close_units(thread, thread.stack.depth(), at());
      break;
    case SlotKind::UnitBegin:
      begin_unit(thread, *plan.module, slot, at(), value);
      break;
    case SlotKind::UnitEnd:
      end_unit(thread, directory_.unit_name(*plan.module, slot.aux), at());
      break;
    case SlotKind::Call:
      thread.stack.call(contexts_, directory_, *plan.module, slot.site, slot.inlined_at);
      break;
    default:
      break;
  }
}

void EventBuilder::begin_unit(Thread& thread, const Module& module, const SlotPlan& slot, Place at,
                              uint64_t value) {
  if (slot.aux == kNoIndex) return;
  UnitNameId name = directory_.unit_name(module, slot.aux);
  ObjectId self = kNone<ObjectId>;
  if (slot.value_source != Source::None)
    self = directory_.self(value, module, module.tables.units[slot.aux].type);
  size_t depth = thread.stack.depth();
  thread.units.push_back({name, depth});
  emit(thread, EventKind::Begin, at.site, at.context, raw(name), raw(self), 0, 0);
}

// Units nest, so everything begun after this one ends with it; an end without a beginning is dropped.
void EventBuilder::end_unit(Thread& thread, UnitNameId name, Place at) {
  auto open = std::find_if(thread.units.rbegin(), thread.units.rend(),
                           [&](const Thread::OpenUnit& unit) { return unit.name == name; });
  if (open == thread.units.rend()) return;
  auto count = open - thread.units.rbegin() + 1;
  for (ptrdiff_t i = 0; i < count; ++i) {
    thread.units.pop_back();
    emit(thread, EventKind::End, at.site, at.context, UINT32_MAX, UINT32_MAX, 0, 0);
  }
}

void EventBuilder::close_units(Thread& thread, size_t depth, Place at) {
  while (leaves_units(thread, depth)) {
    thread.units.pop_back();
    emit(thread, EventKind::End, at.site, at.context, UINT32_MAX, UINT32_MAX, 0, 0);
  }
}

void EventBuilder::finish(Thread& thread) { close_units(thread, 0, Place{}); }

void EventBuilder::note_unexplained(SiteId site) {
  ++unexplained_reads_;
  size_t index = site == kNone<SiteId> ? 0 : raw(site) + size_t{1};
  if (index >= unexplained_.size()) unexplained_.resize(index + 1);
  ++unexplained_[index];
}

void EventBuilder::access_slowly(Thread& thread, Event& event, uint64_t address, uint32_t bytes,
                                 uint64_t old_value, TableSite site) {
  uint64_t value = event.value;
  while (bytes > 0) {
    uint32_t here = std::min<uint32_t>(bytes, 8 - static_cast<uint32_t>(address & 7));
    uint64_t read = event.kind == EventKind::Update ? old_value : value;
    resolve(address, here, true, site, event.kind == EventKind::Write ? nullptr : &read);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const Piece piece = pieces_[i];
      Event part = event;
      uint32_t shift = piece.offset * 8u;
      touch(thread, part, atoms_[piece.id], low_bytes(value >> shift, piece.bytes),
            low_bytes(old_value >> shift, piece.bytes));
    }
    address += here;
    bytes -= here;
    value = here < 8 ? value >> (here * 8) : 0;
    old_value = here < 8 ? old_value >> (here * 8) : 0;
  }
}

// Finds or makes the atoms of [address, address + bytes), which lies within one word, into pieces_. Atoms
// that stick out are split. `fill`: memory without an atom gets one; `read` is what the access found there,
// null for a write.
void EventBuilder::resolve(uint64_t address, uint32_t bytes, bool fill, TableSite site,
                           const uint64_t* read) {
  pieces_.clear();
  uint64_t end = address + bytes;
  if (stretches_) break_stretch(address, site);
  ids_.clear();
  atoms_.collect(address, ids_);
  bool cut = false;
  for (uint32_t id : ids_) {
    const Atom atom = atoms_[id];
    uint64_t atom_end = atom.address + atom.size;
    if (atom_end <= address || atom.address >= end) continue;
    if (atom.address >= address && atom_end <= end) continue;
    split(id, address, end, site);
    cut = true;
  }
  if (cut) {
    ids_.clear();
    atoms_.collect(address, ids_);
  }
  uint64_t at = address;
  auto make = [&](uint64_t until) {
    uint64_t first = 0;
    if (read != nullptr) first = low_bytes(*read >> (8 * (at - address)), static_cast<uint32_t>(until - at));
    // Where the access goes on behind what was there before (a temporary's, on the stack), its place is not
    // this one's.
    const bool elsewhere =
        at != address && site && site.module->tables.sites[site.site].object_type != kNoIndex;
    VariableId id =
        directory_.add_variable(at, static_cast<uint32_t>(until - at), elsewhere ? TableSite{} : site,
                                read != nullptr ? &first : nullptr);
    uint32_t made = raw(id);
    atoms_.add(made, at, static_cast<uint32_t>(until - at));
    const VariableInfo& info = builder_.tables().variable(id);
    atoms_[made].value = info.initial;
    atoms_[made].known = info.initial_known || read != nullptr;
    pieces_.push_back({made, static_cast<uint8_t>(at - address), static_cast<uint8_t>(until - at), true});
  };
  for (uint32_t id : ids_) {
    const Atom atom = atoms_[id];
    if (atom.address + atom.size <= address || atom.address >= end) continue;
    if (atom.address > at && fill) make(atom.address);
    pieces_.push_back(
        {id, static_cast<uint8_t>(atom.address - address), static_cast<uint8_t>(atom.size), false});
    at = atom.address + atom.size;
  }
  if (at < end && fill) make(end);
}

// Cuts an atom at `from` and `to`, as far as they lie within it.
void EventBuilder::split(uint32_t whole, uint64_t from, uint64_t to, TableSite site) {
  const Atom atom = atoms_[whole];
  const uint64_t bounds[] = {atom.address, std::clamp(from, atom.address, atom.end()),
                             std::clamp(to, atom.address, atom.end()), atom.end()};
  split(whole, bounds, site);
}

// Into what lies between the bounds, the first and last of which are its own. What was known of it holds for
// its parts.
void EventBuilder::split(uint32_t whole, std::span<const uint64_t> bounds, TableSite site) {
  const Atom atom = atoms_[whole];
  const uint8_t* contents = atom.stretch() && atom.known ? contents_[atom.value] : nullptr;
  atoms_.retire(whole);
  VariableSplit result{VariableId{whole}, {}, current_.events.size()};
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    if (bounds[i] == bounds[i + 1]) continue;
    auto bytes = static_cast<uint32_t>(bounds[i + 1] - bounds[i]);
    const uint64_t offset = bounds[i] - atom.address;
    VariableId id = directory_.add_part(VariableId{whole}, bounds[i], bytes, site);
    result.parts.push_back(id);
    atoms_.add(raw(id), bounds[i], bytes);
    Atom& part = atoms_[raw(id)];
    part.shared = atom.shared;
    part.last = atom.last;
    if (atom.freed) {
      part.freed = part.stretch();
      part.known = !part.stretch();
      part.value = part.stretch() ? 0 : kFreed;
      continue;
    }
    if (part.stretch()) {
      keep_contents(part, contents != nullptr ? contents + offset : nullptr);
      continue;
    }
    part.known = atom.known;
    if (contents != nullptr)
      std::memcpy(&part.value, contents + offset, bytes);
    else if (!atom.stretch())
      part.value = part_of(atom.value, static_cast<uint32_t>(8 * offset), bytes);
  }
  if (contents != nullptr) contents_.drop(atom.value);
  unknown_writes_.erase(whole);
  directory_.end_whole(VariableId{whole});
  current_.splits.push_back(std::move(result));
}

void EventBuilder::forget_atoms(uint64_t address, uint64_t bytes) {
  own_locks_.forget(address, bytes);
  if (!directory_.reuses_ids()) return atoms_.forget(address, bytes);
  if (stretches_ && bytes != 0)
    cut_at_bounds(address, address + bytes < address ? UINT64_MAX : address + bytes);
  std::vector<VariableId>& ended = current_.freed.variables;
  size_t before = ended.size();
  atoms_.forget(address, bytes, &ended);
  for (size_t i = before; stretches_ && i < ended.size(); ++i) {
    Atom& atom = atoms_[raw(ended[i])];
    if (atom.stretch()) keep_contents(atom, nullptr);
  }
  directory_.end_variables(std::span(ended).subspan(before));
}

uint64_t Batch::old_value(size_t position) const {
  auto it = std::lower_bound(old_values.begin(), old_values.end(), position,
                             [](const auto& entry, size_t wanted) { return entry.first < wanted; });
  CLEAVE_CHECK(it != old_values.end() && it->first == position,
               "old_value of an event that is not an update");
  return it->second;
}

}  // namespace cleave
