// Loads, stores, atomics and ranges: where the walk meets the events.
#include <llvm/Analysis/ConstantFolding.h>

#include <algorithm>

#include <fmt/format.h>

#include "feasibility/lift/walker.h"

namespace cleave {

using namespace llvm;

namespace {

struct Leaf {
  uint64_t offset;
  uint32_t bytes;
  uint8_t width;
};

// Where the lanes of a type lie in memory. False for what has no simple place (vectors of bits).
bool leaves(Type* type, const DataLayout& layout, uint64_t offset, std::vector<Leaf>* out) {
  if (auto* structure = dyn_cast<StructType>(type)) {
    const StructLayout* places = layout.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i) {
      if (!leaves(structure->getElementType(i), layout, offset + places->getElementOffset(i).getFixedValue(),
                  out))
        return false;
    }
    return true;
  }
  Type* element = nullptr;
  uint64_t count = 0;
  if (auto* array = dyn_cast<ArrayType>(type))
    element = array->getElementType(), count = array->getNumElements();
  if (auto* vector = dyn_cast<FixedVectorType>(type)) {
    element = vector->getElementType(), count = vector->getNumElements();
    if (layout.getTypeSizeInBits(element) % 8 != 0) return false;
  }
  if (element != nullptr) {
    uint64_t stride = layout.getTypeAllocSize(element).getFixedValue();
    for (uint64_t i = 0; i < count; ++i) {
      if (!leaves(element, layout, offset + i * stride, out)) return false;
    }
    return true;
  }
  TypeSize bits = layout.getTypeSizeInBits(type);
  if (bits.isScalable() || bits.getFixedValue() > 64) return false;
  out->push_back({offset, static_cast<uint32_t>((bits.getFixedValue() + 7) / 8),
                  static_cast<uint8_t>(bits.getFixedValue())});
  return true;
}

}  // namespace

uint64_t Walker::invent(uint64_t bytes) {
  uint64_t address = next_invented_;
  next_invented_ += (bytes + 31) & ~uint64_t{15};
  return address;
}

Lanes Walker::split(Type* type, uint64_t base) {
  std::vector<Leaf> places;
  Lanes lanes = unknown_of(type);
  if (!leaves(type, layout(), 0, &places) || places.size() != lanes.size()) return lanes;
  for (size_t i = 0; i < places.size(); ++i)
    lanes[i] = memory_.load(base + places[i].offset, places[i].bytes, places[i].width);
  return lanes;
}

void Walker::join(Type* type, const Lanes& lanes, uint64_t base) {
  std::vector<Leaf> places;
  if (!leaves(type, layout(), 0, &places) || places.size() != lanes.size()) {
    for (const ThreadCursor& lane : lanes) pin(lane);
    return memory_.forget(base, layout().getTypeStoreSize(type).getFixedValue());
  }
  for (size_t i = 0; i < places.size(); ++i) {
    if (!lanes[i].known()) pin(lanes[i]);
    memory_.store(base + places[i].offset, lanes[i], places[i].bytes);
  }
}

std::vector<uint32_t> Walker::events_of(const ScriptSlot& slot) {
  auto it = events_by_origin_.find({slot.record, slot.segment != nullptr ? slot.slot : 0});
  if (it == events_by_origin_.end()) return {};
  std::vector<uint32_t>
      accesses;  // the end of a unit that an exception left may have the place of the access behind it
  for (uint32_t e : it->second) {
    if (is_access(context_.recorded.trace.events()[e].kind)) accesses.push_back(e);
  }
  return accesses;
}

// A computed value beside the recorded one: equal, or the walk has a defect, which is counted, and the record
// counts.
ThreadCursor Walker::checked(ThreadCursor lane, uint64_t recorded, uint32_t bytes) {
  auto width = static_cast<uint8_t>(bytes * 8);
  recorded = truncate(recorded, width);
  if (!lane.known() || lane.invented) {
    if (!lane.known()) {
      ++context_.report.concretized;
      pin(lane);
    }
    ThreadCursor taken = known(recorded, width);
    taken.lost = lane.lost;
    return taken;
  }
  if (lane.width < width) {
    lane.expression = pool().make(Op::ZeroExtend, width, lane.expression);
    lane.width = width;
  }
  ++context_.report.values_compared;
  if (lane.concrete == recorded && lane.width == width) return lane;
  mismatch(lane.concrete, recorded);
  return known(recorded, width);
}

// What a read of these events returns: a symbol for each shared one; what this thread left there otherwise.
ThreadCursor Walker::read_events(const std::vector<uint32_t>& events, uint64_t value, uint32_t bytes,
                                 uint64_t address) {
  auto width = static_cast<uint8_t>(bytes * 8);
  const Trace& trace = context_.recorded.trace;
  bool any_shared = std::any_of(events.begin(), events.end(),
                                [&](uint32_t e) { return context_.shared[trace.events()[e].object]; });
  if (!any_shared) {
    ThreadCursor own = memory_.load(address, bytes, width);
    ThreadCursor result =
        own.known() && !own.invented && own.concrete == truncate(value, width) ? own : known(value, width);
    memory_.store(address, result, bytes);
    return result;
  }
  for (uint32_t e : events) {
    const Event& event = trace.events()[e];
    uint64_t at = trace.variable(event.variable()).address;
    uint32_t size = event.width();
    if (at < address || at + size > address + bytes) return known(value, width);
    uint64_t part = truncate(value >> (8 * (at - address)), static_cast<uint8_t>(size * 8));
    EventIndex index = id_of<EventIndex>(e);
    if (context_.symbolic.bound(index) == kNone<SymbolId>) {
      context_.symbolic.bind(index, fmt::format("r{}", e), static_cast<uint8_t>(size * 8), part);
      ++context_.report.shared_reads;
    }
    SymbolId symbol = context_.symbolic.bound(index);
    memory_.store(
        at, {pool().symbol(symbol, static_cast<uint8_t>(size * 8)), part, static_cast<uint8_t>(size * 8)},
        size);
  }
  ThreadCursor result = memory_.load(address, bytes, width);
  return result.known() && result.concrete == truncate(value, width) ? result : known(value, width);
}

void Walker::write_events(const std::vector<uint32_t>& events, const ThreadCursor& lane, uint64_t value,
                          uint32_t bytes, uint64_t address) {
  ThreadCursor stored = checked(lane, value, bytes);
  memory_.store(address, stored, bytes);
  const Trace& trace = context_.recorded.trace;
  for (uint32_t e : events) {
    const Event& event = trace.events()[e];
    if (!context_.shared[event.object]) continue;
    uint64_t at = trace.variable(event.variable()).address;
    auto width = static_cast<uint8_t>(event.width() * 8);
    ThreadCursor part = memory_.load(at, event.width(), width);
    if (!part.known()) part = known(event.value, width);
    ++context_.report.shared_writes;
    if (symbolic(part)) {
      ++context_.report.shared_writes_symbolic;
    } else if (part.lost) {
      ++context_.report.shared_writes_concretized;
    }
    context_.symbolic.store(id_of<EventIndex>(e), part.expression);
  }
}

bool Walker::constant_load(uint64_t address, Type* type, Lanes* lanes) {
  auto it = constants_by_address_.upper_bound(address);
  if (it == constants_by_address_.begin()) return false;
  --it;
  uint64_t size = layout().getTypeAllocSize(it->second->getValueType()).getFixedValue();
  if (address - it->first >= size) return false;
  auto* initializer = const_cast<Constant*>(it->second->getInitializer());
  Constant* value = ConstantFoldLoadFromConst(initializer, type, APInt(64, address - it->first), layout());
  if (value == nullptr) return false;
  *lanes = constant(value);
  return true;
}

void Walker::load(LoadInst& load) {
  ThreadCursor pointer = scalar(load.getPointerOperand());
  if (!load.hasMetadata("cleave.slot")) {  // private, or constant
    Lanes lanes = unknown_of(load.getType());
    pin(pointer);
    if (pointer.known() && !constant_load(pointer.concrete, load.getType(), &lanes))
      lanes = split(load.getType(), pointer.concrete);
    top().values[&load] = std::move(lanes);
    return;
  }
  uint64_t bytes = layout().getTypeStoreSize(load.getType()).getFixedValue(), done = 0;
  uint64_t base = 0, segment = 0;
  for (bool first = true; done < bytes; first = false) {
    const ScriptSlot* slot = take(SlotKind::Read);
    if (slot == nullptr) return;
    if (first) {
      base = slot->address;
      segment = slot->record;
      pin_address(pointer, base);
    } else if (slot->record != segment || slot->address < base || slot->address >= base + bytes) {
      break;  // padding was not recorded
    }
    uint32_t width = slot->plan().width;
    ThreadCursor lane = read_events(events_of(*slot), slot->value, width, slot->address);
    memory_.store(slot->address, lane, width);
    done = slot->address + width - base;
    pop();
    const ScriptSlot* following = script_.peek();
    if (following == nullptr || !following->is(SlotKind::Read) || following->record != segment) break;
  }
  top().values[&load] = split(load.getType(), base);
}

void Walker::store(StoreInst& store) {
  ThreadCursor pointer = scalar(store.getPointerOperand());
  Lanes value = operand(store.getValueOperand());
  Type* type = store.getValueOperand()->getType();
  uint64_t bytes = layout().getTypeStoreSize(type).getFixedValue();
  if (!store.hasMetadata("cleave.slot")) {
    pin(pointer);
    if (pointer.known()) {
      join(type, value, pointer.concrete);
    } else {
      for (const ThreadCursor& lane : value) pin(lane);
    }
    return;
  }
  uint64_t scratch = invent(bytes), base = 0, record = 0;
  join(type, value, scratch);
  for (uint64_t done = 0; done < bytes;) {
    const ScriptSlot* slot = take(SlotKind::Write);
    if (slot == nullptr) return;
    if (done == 0) {
      base = slot->address;
      record = slot->record;
      if (slot->plan().width == bytes) {
        place_store(pointer, base, slot->plan().width, events_of(*slot));
      } else {
        pin_address(pointer, base);
      }
    }
    uint32_t width = slot->plan().width;
    ThreadCursor lane =
        memory_.load(scratch + (slot->address - base), width, static_cast<uint8_t>(width * 8));
    for (const ThreadCursor& whole : value) {
      lane.invented = lane.invented || whole.invented;
      lane.lost = lane.lost || whole.lost;
    }
    write_events(events_of(*slot), lane, slot->value, width, slot->address);
    done = slot->address + width - base;
    pop();
    const ScriptSlot* following = script_.peek();
    if (following == nullptr || !following->is(SlotKind::Write) || following->record != record) break;
  }
  memory_.forget(scratch, bytes);
}

void Walker::atomic(Instruction& instruction) {
  bool private_access = !instruction.hasMetadata("cleave.slot");
  if (private_access) {
    context_.not_modelled.insert("atomic operations on private memory");
    for (const Use& use : instruction.operands()) {
      for (const ThreadCursor& lane : operand(use)) pin(lane);
    }
    ThreadCursor pointer = scalar(instruction.getOperand(isa<StoreInst>(instruction) ? 1 : 0));
    if (auto* load = dyn_cast<LoadInst>(&instruction); load != nullptr && pointer.known()) {
      top().values[&instruction] = split(load->getType(), pointer.concrete);
      return;
    }
    if (auto* store = dyn_cast<StoreInst>(&instruction); store != nullptr && pointer.known()) {
      return join(store->getValueOperand()->getType(), operand(store->getValueOperand()), pointer.concrete);
    }
    if (!instruction.getType()->isVoidTy()) top().values[&instruction] = unknown_of(instruction.getType());
    return;
  }
  const ScriptSlot* slot = script_.peek();
  while (slot != nullptr && slot->kind != RecordKind::atomic) {
    bool skip = slot->segment == nullptr
                    ? slot->hook == nullptr
                    : slot->plan().kind != SlotKind::Read && slot->plan().kind != SlotKind::Write;
    if (!skip) return lose("an atomic operation has no record");
    pop();
    slot = script_.peek();
  }
  if (slot == nullptr || slot->words.size() < 6) {
    done_ = true;
    return;
  }
  uint64_t address = slot->words[1], shape = slot->words[3], old_value = slot->words[4],
           new_value = slot->words[5];
  auto bytes = static_cast<uint32_t>(shape >> 16 & 0xffff);
  if (bytes == 0 || bytes > 8) return lose("an atomic operation wider than a word");
  auto width = static_cast<uint8_t>(bytes * 8);
  std::vector<uint32_t> events = events_of(*slot);
  auto narrow = [&](ThreadCursor lane, Type* type) {
    uint8_t wanted = lane_width(type, layout());
    if (lane.width > wanted)
      lane = {pool().make(Op::Extract, wanted, lane.expression), truncate(lane.concrete, wanted), wanted};
    return lane;
  };
  ThreadCursor pointer = scalar(instruction.getOperand(isa<StoreInst>(instruction) ? 1 : 0));
  if (isa<StoreInst>(instruction)) {
    place_store(pointer, address, bytes, events);
  } else {
    pin_address(pointer, address);
  }
  if (auto* load = dyn_cast<LoadInst>(&instruction)) {
    top().values[load] = {narrow(read_events(events, old_value, bytes, address), load->getType())};
  } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
    write_events(events, scalar(store->getValueOperand()), new_value, bytes, address);
  } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
    ThreadCursor old_lane = read_events(events, old_value, bytes, address),
                 given = scalar(update->getValOperand()), fresh{.width = width};
    if (given.known() && given.width < width)
      given = {pool().make(Op::ZeroExtend, width, given.expression), given.concrete, width};
    switch (update->getOperation()) {
      case AtomicRMWInst::Xchg:
        fresh = given;
        break;
      case AtomicRMWInst::Add:
        fresh = make(Op::Add, width, old_lane, given);
        break;
      case AtomicRMWInst::Sub:
        fresh = make(Op::Subtract, width, old_lane, given);
        break;
      case AtomicRMWInst::And:
        fresh = make(Op::And, width, old_lane, given);
        break;
      case AtomicRMWInst::Or:
        fresh = make(Op::Or, width, old_lane, given);
        break;
      case AtomicRMWInst::Xor:
        fresh = make(Op::Xor, width, old_lane, given);
        break;
      default:
        fresh = unknown(width, {old_lane, given});
        break;
    }
    write_events(events, fresh, new_value, bytes, address);
    top().values[update] = {narrow(old_lane, update->getType())};
  } else {
    auto& exchange = cast<AtomicCmpXchgInst>(instruction);
    ThreadCursor old_lane = read_events(events, old_value, bytes, address);
    ThreadCursor expected = scalar(exchange.getCompareOperand());
    ThreadCursor wanted = scalar(exchange.getNewValOperand());
    bool stored = (shape & 0xff) == 2;
    if (expected.known() && expected.width < width) {
      expected = {pool().make(Op::ZeroExtend, width, expected.expression), expected.concrete, width};
    }
    ThreadCursor equal = make(Op::Equal, 1, old_lane, expected);
    if (!(exchange.isWeak() && !stored)) assume(equal, stored);
    if (stored) write_events(events, wanted, new_value, bytes, address);
    top().values[&exchange] = {narrow(old_lane, exchange.getCompareOperand()->getType()), known(stored, 1)};
  }
  pop();
}

// A string function outside reads or writes a range: what it computes from shared bytes is not known, so they
// are pinned.
void Walker::range_outside(const ScriptSlot& slot) {
  const Trace& trace = context_.recorded.trace;
  for (uint32_t e : events_of(slot)) {
    const Event& event = trace.events()[e];
    uint64_t address = trace.variable(event.variable()).address;
    if (event.width() == 0 || event.width() > 8) {
      continue;
    }
    if (event.kind == EventKind::Read) {
      pin(read_events({e}, event.value, event.width(), address));
    } else {
      write_events({e}, ThreadCursor{.width = static_cast<uint8_t>(event.width() * 8)}, event.value,
                   event.width(), address);
    }
  }
}

void Walker::copy(AnyMemTransferInst& transfer) {
  ThreadCursor from = scalar(transfer.getRawSource()), to = scalar(transfer.getRawDest()),
               length = scalar(transfer.getLength());
  pin(from);
  pin(to);
  pin(length);
  const Trace& trace = context_.recorded.trace;
  uint64_t source = from.known() ? from.concrete : 0, bytes = length.known() ? length.concrete : 0;
  bool source_known = from.known();
  for (;;) {
    const ScriptSlot* slot = next_place();
    if (slot == nullptr || slot->segment != nullptr || slot->hook == nullptr ||
        !in_current_function(*slot->hook))
      break;
    if (slot->kind == RecordKind::range_read) {
      source = slot->words[2], bytes = slot->words[3], source_known = true;
      for (uint32_t e : events_of(*slot)) {
        const Event& event = trace.events()[e];
        if (event.width() == 0 || event.width() > 8) continue;
        read_events({e}, event.value, event.width(), trace.variable(event.variable()).address);
      }
      pop();
      continue;
    }
    if (slot->kind != RecordKind::range_write) break;
    uint64_t target = slot->words[2];
    bytes = slot->words[3];
    for (uint32_t e : events_of(*slot)) {
      const Event& event = trace.events()[e];
      if (event.width() == 0 || event.width() > 8) continue;
      uint64_t at = trace.variable(event.variable()).address;
      ThreadCursor lane{.width = static_cast<uint8_t>(event.width() * 8)};
      if (source_known) lane = memory_.load(source + (at - target), event.width(), lane.width);
      if (lane.known() && lane.concrete != truncate(event.value, lane.width)) lane = {.width = lane.width};
      write_events({e}, lane, event.value, event.width(), at);
    }
    pop();
    return;
  }
  if (!to.known() || bytes == 0) return;
  if (source_known) {
    memory_.copy(to.concrete, source, bytes);
  } else {
    memory_.forget(to.concrete, bytes);
  }
}

void Walker::fill(AnyMemSetInst& set) {
  ThreadCursor to = scalar(set.getRawDest()), length = scalar(set.getLength()),
               value = scalar(set.getValue());
  pin(to);
  pin(length);
  if (const ScriptSlot* slot = range_here(RecordKind::range_write)) {
    pin(value);
    range_outside(*slot);
    pop();
    return;
  }
  if (!to.known() || !length.known()) return;
  for (uint64_t i = 0; i < length.concrete; ++i) memory_.store(to.concrete + i, value, 1);
}

}  // namespace cleave
