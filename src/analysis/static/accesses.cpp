#include "analysis/static/accesses.h"

#include <fmt/format.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "trace/core/library.h"

namespace cleave::static_analysis {

using namespace llvm;

namespace {

constexpr uint64_t kWidestRange = 512;
constexpr uint32_t kUnknownObject = UINT32_MAX;

bool is_library_name(std::string_view name) { return is_library_type(name) || name.starts_with("_M_"); }

std::string short_path(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// What an object is called that has no class and no field.
std::string object_name(const Object& object, uint64_t offset) {
  std::string name;
  if (const auto* global = dyn_cast<GlobalVariable>(object.at)) {
    name = WholeProgram::name_of(*global);
  } else if (const auto* instruction = dyn_cast<Instruction>(object.at)) {
    if (object.kind == ObjectKind::Stack) name = WholeProgram::local(*instruction).first;
    if (name.empty()) {
      std::vector<Frame> frames = WholeProgram::frames(*instruction);
      while (frames.size() > 1 && frames.front().system) frames.erase(frames.begin());
      name = fmt::format("{}@{}:{}", object.kind == ObjectKind::Stack ? "local" : "new",
                         short_path(frames[0].file), frames[0].line);
    }
  }
  return offset == 0 ? name : fmt::format("{}+{}", name, offset);
}

}  // namespace

Accesses::Accesses(const WholeProgram& whole, const PointsTo& points_to, const Processes& processes,
                   bool by_name)
    : whole_(whole),
      points_to_(points_to),
      processes_(processes),
      by_name_(by_name),
      classes_(whole, points_to) {
  find_shared();
  find_owners();
  std::vector<const CallBase*> frees;
  for (const Function& function : whole.module()) {
    if (processes.running(&function).empty()) continue;
    for (const Instruction& instruction : instructions(function)) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      if (call != nullptr && known_call(*call).kind == CallKind::Free) {
        frees.push_back(call);
      } else {
        collect(instruction);
      }
    }
  }
  // Giving an object back changes all that is known of it.
  for (const CallBase* call : frees) {
    Access access;
    access.at = call;
    std::set<VarId> all;
    for (const Location& target : points_to_.pointees(call->getArgOperand(0))) {
      for (const auto& [place, variable] : by_place_) {
        if (place.second.empty() && (place.first >> 32) == target.object) all.insert(variable);
      }
    }
    if (all.empty()) continue;
    access.write.variables.assign(all.begin(), all.end());
    access.write.alternatives.push_back(access.write.variables);
    at_[call] = static_cast<uint32_t>(accesses_.size());
    accesses_.push_back(std::move(access));
  }
}

const Access* Accesses::at(const Instruction* instruction) const {
  auto found = at_.find(instruction);
  return found == at_.end() ? nullptr : &accesses_[found->second];
}

// What globals and the arguments of threads lead to, over any number of pointers.
void Accesses::find_shared() {
  std::vector<uint32_t> stack;
  auto share = [&](uint32_t object) {
    const ObjectKind kind = points_to_.object(object).kind;
    const auto* global = dyn_cast<GlobalVariable>(points_to_.object(object).at);
    if (global != nullptr && global->isConstant()) return;
    if (kind != ObjectKind::Code && kind != ObjectKind::Thread && shared_.insert(object).second)
      stack.push_back(object);
  };
  for (uint32_t object = 0; object < points_to_.objects(); ++object) {
    const auto* global = dyn_cast<GlobalVariable>(points_to_.object(object).at);
    if (global != nullptr && !global->isConstant() && !global->isThreadLocal()) share(object);
    if (points_to_.object(object).kind == ObjectKind::Outside) share(object);
  }
  for (const StartedThread& started : points_to_.started()) {
    const KnownCall known = known_call(*started.at);
    if (known.kind == CallKind::StartState) {
      for (const Location& pointer : points_to_.pointees(started.at->getArgOperand(1))) {
        for (const Location& state : points_to_.contents(pointer)) share(state.object);
      }
      continue;
    }
    for (unsigned i = static_cast<unsigned>(known.argument); i < started.at->arg_size(); ++i) {
      for (const Location& argument : points_to_.pointees(started.at->getArgOperand(i)))
        share(argument.object);
    }
  }
  while (!stack.empty()) {
    const uint32_t object = stack.back();
    stack.pop_back();
    for (const Location& part : points_to_.locations_of(object)) {
      for (const Location& held : points_to_.contents(part)) share(held.object);
    }
  }
}

void Accesses::find_owners() {
  for (const auto& [container, block] : points_to_.owned()) {
    const std::vector<Location> holders = points_to_.pointees(container);
    if (holders.empty()) continue;
    for (const Location& owned : points_to_.pointees(block)) {
      if (points_to_.object(owned.object).kind != ObjectKind::Heap || owned.object == holders[0].object)
        continue;
      owners_.try_emplace(owned.object, holders[0]);
    }
  }
}

Location Accesses::container_of(Location location, bool* in_block) const {
  for (int depth = 0; depth < 8; ++depth) {
    auto found = owners_.find(location.object);
    if (found == owners_.end()) break;
    location = found->second;
    *in_block = true;
  }
  return location;
}

// Where the variable begins that the location lies in, and what it is called.
Location Accesses::field_start(Location location, std::string* name, bool* container) const {
  const ObjectClasses::Field field = classes_.field(location);
  if (!field.name.empty()) {
    // A mutex, a future or a latch in an object is means, not data.
    *name = field.library && is_std_internal(field.type) ? field.type : field.name;
    *container = field.library;
    return field.start;
  }
  const Object& object = points_to_.object(location.object);
  const Type* type = nullptr;
  if (const auto* alloca = dyn_cast<AllocaInst>(object.at)) type = alloca->getAllocatedType();
  if (const auto* global = dyn_cast<GlobalVariable>(object.at)) type = global->getValueType();
  const auto* structure = dyn_cast_or_null<StructType>(type);
  if (structure != nullptr && structure->hasName() && structure->getName().contains("std::")) {
    *container = true;
    location.offset = 0;
    const StringRef own = structure->getName().split('.').second;
    if (is_std_internal(std::string_view(own.data(), own.size()))) {
      *name = own.str();
      return location;
    }
  }
  *name = object_name(object, location.offset);
  return location;
}

std::string Accesses::site_name(const Instruction& at) const {
  const SiteTables* tables = nullptr;
  const SiteEntry* site = whole_.site(at, &tables);
  if (site == nullptr) return {};
  std::string name(tables->text(site->variable));
  if (is_library_name(name)) return {};
  if (name.ends_with("[]")) name.resize(name.size() - 2);
  return name;
}

VarId Accesses::variable_at(Location location, const std::string& name, bool* in_block) {
  std::string field;
  bool container = false, unique = false;
  std::pair<uint64_t, std::string> key{uint64_t{kUnknownObject} << 32, name};
  if (location.object != kUnknownObject) {
    location = field_start(container_of(location, in_block), &field, &container);
    const Object& object = points_to_.object(location.object);
    unique = object.kind == ObjectKind::Global;
    if (const auto* at = dyn_cast<Instruction>(object.at)) {
      const std::vector<uint32_t>& by = processes_.running(at->getFunction());
      unique = by.size() == 1 && !processes_.all()[by[0]].several &&
               (object.kind == ObjectKind::Stack || processes_.callers(at->getFunction()).size() < 2);
    }
    key = {uint64_t{location.object} << 32 | location.offset, {}};
  }
  std::string shown = name.empty() || *in_block || container ? field : name;
  if (shown.empty()) shown = name;
  if (by_name_) key = {0, shown};
  auto [it, fresh] = by_place_.try_emplace(key, static_cast<VarId>(variables_.size()));
  uint32_t object = location.object;
  if (object != kUnknownObject && points_to_.object(object).kind == ObjectKind::Global)
    object = UINT32_MAX - 1;
  if (fresh) variables_.push_back({shown, unique, container, object});
  return it->second;
}

// Memory that the library has allocated for purposes of its own (the count of a shared_ptr, the state of a
// future): no container has it, and no class of the program lies there.
bool Accesses::librarys_own(const Instruction& at, Location target) const {
  const ObjectKind kind = points_to_.object(target.object).kind;
  if (kind != ObjectKind::Heap && kind != ObjectKind::Outside) return false;
  if (owners_.count(target.object) != 0 || !classes_.field(target).name.empty()) return false;
  return WholeProgram::frames(at).front().system;
}

void Accesses::add(const Instruction& at, const Value* pointer, bool read, bool write, bool atomic,
                   bool range) {
  const DataLayout& layout = at.getDataLayout();
  uint64_t bytes = 1;
  if (const auto* load = dyn_cast<LoadInst>(&at)) bytes = layout.getTypeStoreSize(load->getType());
  if (const auto* store = dyn_cast<StoreInst>(&at))
    bytes = layout.getTypeStoreSize(store->getValueOperand()->getType());
  if (range) {
    const auto* size = dyn_cast<ConstantInt>(cast<CallBase>(at).getArgOperand(2));
    bytes = size == nullptr ? 1 : std::min(size->getZExtValue(), kWidestRange);
  }
  const std::string name = range ? std::string() : site_name(at);
  auto known = at_.find(&at);
  Access access;
  access.at = &at;
  access.atomic = atomic;
  if (known != at_.end()) access = accesses_[known->second];
  Touch touch;
  for (const Location& target : points_to_.pointees(pointer)) {
    const Object& object = points_to_.object(target.object);
    if (is_private(target.object) || object.kind == ObjectKind::Code) continue;
    if (name.empty() && librarys_own(at, target)) continue;
    std::vector<VarId> touched;
    for (uint64_t offset = 0; offset < bytes; offset += 4) {
      const Location part = points_to_.normal({target.object, target.offset + offset});
      const VarId id = variable_at(part, offset == 0 || bytes <= 8 ? name : std::string(), &access.in_block);
      if (is_std_internal(variables_[id].name)) continue;
      if (std::find(touched.begin(), touched.end(), id) == touched.end()) touched.push_back(id);
    }
    if (touched.empty()) continue;
    std::sort(touched.begin(), touched.end());
    if (std::find(touch.alternatives.begin(), touch.alternatives.end(), touched) == touch.alternatives.end())
      touch.alternatives.push_back(touched);
  }
  if (touch.alternatives.empty() && points_to_.pointees(pointer).empty() && !name.empty())
    touch.alternatives.push_back({variable_at({kUnknownObject, 0}, name, &access.in_block)});
  if (touch.alternatives.empty()) return;
  std::set<VarId> all;
  for (const std::vector<VarId>& alternative : touch.alternatives)
    all.insert(alternative.begin(), alternative.end());
  touch.variables.assign(all.begin(), all.end());
  const auto* maker = dyn_cast<CallBase>(getUnderlyingObject(pointer));
  access.fresh = write && maker != nullptr && known_call(*maker).kind == CallKind::Allocate;
  if (read) access.read = touch;
  if (write) access.write = std::move(touch);
  if (known != at_.end()) {
    accesses_[known->second] = std::move(access);
  } else {
    at_[&at] = static_cast<uint32_t>(accesses_.size());
    accesses_.push_back(std::move(access));
  }
}

void Accesses::collect(const Instruction& at) {
  if (const auto* load = dyn_cast<LoadInst>(&at))
    return add(at, load->getPointerOperand(), true, false, load->isAtomic(), false);
  if (const auto* store = dyn_cast<StoreInst>(&at))
    return add(at, store->getPointerOperand(), false, true, store->isAtomic(), false);
  if (const auto* update = dyn_cast<AtomicRMWInst>(&at))
    return add(at, update->getPointerOperand(), true, true, true, false);
  if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&at))
    return add(at, exchange->getPointerOperand(), true, true, true, false);
  const auto* call = dyn_cast<CallBase>(&at);
  if (call == nullptr) return;
  const CallKind kind = known_call(*call).kind;
  if (kind == CallKind::Copy || kind == CallKind::Fill)
    add(at, call->getArgOperand(0), false, true, false, true);
  if (kind == CallKind::Copy) add(at, call->getArgOperand(1), true, false, false, true);
}

}  // namespace cleave::static_analysis
