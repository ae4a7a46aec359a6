// Memory that comes and goes: heap blocks, mappings, stacks.
//
// Giving memory back is a write of every location in it, by the thread and in the unit that does it: whoever
// still uses it conflicts with that as with any other write. So what is given back stays for a while. An
// access of it, which is a use after free, is one of the location that was there; a read returns kFreed,
// since nothing that it finds is anybody's value. What was given back is forgotten when its addresses are
// used again, and the oldest when there is too much of it.
//
// As long as there is one thread only, nobody can conflict with it: no writes then.
#include <algorithm>

#include "trace/core/no_value.h"
#include "trace/recorded/event_builder.h"

namespace cleave {
namespace {

constexpr size_t kMostFreedBlocks = 1024, kMostFreedAtoms = 16384;
constexpr uint64_t kLargestLocal = 1 << 20;

}  // namespace

void EventBuilder::memory(Thread& thread, RecordKind kind, std::span<const uint64_t> words) {
  using enum RecordKind;
  const uint64_t address = words[0], bytes = words[1];
  switch (kind) {
    case alloc:
    case map:
      return allocated(thread, address, bytes, kind == alloc ? "malloc" : "mmap");
    case RecordKind::stack:
      return forget_memory(address, words[1] > words[0] ? words[1] - words[0] : 0);
    case RecordKind::free:
      return given_back(thread, address, directory_.block_size(address));
    default:
      return given_back(thread, address, bytes);
  }
}

void EventBuilder::allocated(Thread& thread, uint64_t address, uint64_t bytes, const char* how) {
  forget_memory(address, bytes);
  if (stretches_)
    cut_at_bounds(address,
                  address + std::max<uint64_t>(bytes, 1));  // a block of nothing is a byte to the tables
  Event event = at_call(thread, EventKind::Alloc);
  const TableSite& called_for =
      thread.stack.last_call_that([&](const TableSite& call) { return directory_.in_program(call); });
  event.object = raw(directory_.allocate(address, bytes, thread.stack.last_call(), called_for, how));
  event.value = bytes;
  emit(thread, event);
}

// All of it: what was given back, and what is there.
void EventBuilder::forget_memory(uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes;
  for (auto it = freed_.lower_bound(address); it != freed_.end() && it->first < end;) it = forget_freed(it);
  if (auto it = freed_.lower_bound(address); it != freed_.begin()) {
    --it;
    if (it->second.end > address) forget_freed(it);
  }
  forget_atoms(address, bytes);
  directory_.forget(address, bytes);
}

std::map<uint64_t, EventBuilder::FreedBlock>::iterator EventBuilder::forget_freed(
    std::map<uint64_t, FreedBlock>::iterator block) {
  const uint64_t address = block->first, bytes = block->second.end - address;
  freed_atoms_ -= block->second.atoms;
  forget_atoms(address, bytes);
  directory_.forget(address, bytes);
  return freed_.erase(block);
}

void EventBuilder::given_back(Thread& thread, uint64_t address, uint64_t bytes) {
  const uint64_t end = address + bytes < address ? UINT64_MAX : address + bytes;
  if (stretches_) cut_at_bounds(address, end);  // while it is known what they are
  const ObjectId object = directory_.block_object(address);
  const bool whole = object != kNone<ObjectId> && directory_.block_size(address) <= bytes;
  freed_ids_.clear();
  if (threads_.size() > 1 && end > address) atoms_.collect_range(address, end - address, freed_ids_);
  const size_t atoms = freed_ids_.size();
  if (atoms != 0) write_freed(thread, at_call(thread, EventKind::Write), freed_ids_);
  if (object != kNone<ObjectId>) {
    Event event = at_call(thread, EventKind::Free);
    event.object = raw(object);
    emit(thread, event);
  }
  if (!whole || atoms == 0) return forget_memory(address, bytes);
  auto [block, fresh] = freed_.try_emplace(address, FreedBlock{});
  freed_atoms_ += atoms - (fresh ? 0 : block->second.atoms);
  block->second = {end, atoms, ++freed_number_};
  freed_order_.emplace_back(address, freed_number_);
  while (freed_order_.size() > kMostFreedBlocks || freed_atoms_ > kMostFreedAtoms) {
    auto [oldest, number] = freed_order_.front();
    freed_order_.pop_front();
    auto found = freed_.find(oldest);
    if (found != freed_.end() && found->second.number == number) forget_freed(found);
  }
}

// The write that giving memory back is.
void EventBuilder::write_freed(Thread& thread, const Event& event, std::span<const uint32_t> atoms) {
  for (uint32_t id : atoms) {
    Atom& atom = atoms_[id];
    if (atom.stretch()) {
      keep_contents(atom, nullptr);
      atom.freed = true;
      hold(thread, atom);
      emit(thread, event.kind, event.site, event.context, id, UINT32_MAX, kFreed, 0);
    } else {
      touch(thread, event, atom, kFreed, 0);
    }
  }
}

// The end of a frame, as far as other threads have been in it. Nothing tells when its addresses are used
// again, so what is read there from now on is what is found.
void EventBuilder::local_gone(Thread& thread, std::span<const uint64_t> words) {
  const uint64_t address = words[1], bytes = words[2];
  if (threads_.size() < 2 || bytes == 0 || bytes > kLargestLocal || address < 4096) return;
  freed_ids_.clear();
  atoms_.collect_range(address, bytes, freed_ids_);
  if (std::ranges::none_of(freed_ids_, [&](uint32_t id) { return atoms_[id].shared; })) return;
  Event event = at_call(thread, EventKind::Write);
  if (TableSite site = hook_site(words[0])) {
    event.site = directory_.site(*site.module, site.site);
    event.context =
        thread.stack.context(contexts_, *site.module, site.module->tables.sites[site.site].inlined_at);
  }
  write_freed(thread, event, freed_ids_);
  for (uint32_t id : freed_ids_) atoms_[id].known = false;
}

}  // namespace cleave
