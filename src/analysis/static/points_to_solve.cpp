// Solving: a worklist of nodes, each with what is new in its set.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/static/points_to.h"

namespace cleave::static_analysis {

using namespace llvm;

namespace {

constexpr uint64_t kLargestOffset = 1
                                    << 20;  // beyond, and with more offsets than this, an object is one field
constexpr size_t kMostOffsets = 96;

}  // namespace

Location PointsTo::normal(Location location) const {
  for (const Object::Array& array : objects_[location.object].arrays) {
    if (location.offset >= array.begin && location.offset < array.end)
      location.offset = array.begin + (location.offset - array.begin) % array.stride;
  }
  return location;
}

// The smallest known array around an offset that has more than one element of that size; else the rest of the
// object.
std::pair<uint64_t, uint64_t> PointsTo::bounds(const Object& object, uint64_t at, uint64_t stride) const {
  std::pair<uint64_t, uint64_t> best{at, UINT64_MAX};
  auto known = bounds_.find(object.at);
  if (known == bounds_.end()) return best;
  for (const auto& [begin, end] : known->second) {
    if (begin > at || at >= end || end - begin < stride) continue;
    if (best.second == UINT64_MAX || end - begin < best.second - best.first) best = {begin, end};
  }
  return best;
}

uint32_t PointsTo::location(Location wanted) {
  if (wanted.offset > kLargestOffset) mark(wanted.object, {0, UINT64_MAX, 8});
  wanted = normal(wanted);
  auto found = location_ids_.find(wanted);
  if (found != location_ids_.end()) return found->second;
  if (by_object_[wanted.object].size() >= kMostOffsets && wanted.offset != 0) {
    mark(wanted.object, {0, UINT64_MAX, 8});
    wanted = normal(wanted);
    if (found = location_ids_.find(wanted); found != location_ids_.end()) return found->second;
  }
  const auto id = static_cast<uint32_t>(locations_.size());
  location_ids_[wanted] = id;
  locations_.push_back(wanted);
  location_nodes_.push_back(fresh());
  by_object_[wanted.object].push_back(id);
  return id;
}

// An index that is not constant: all elements are one from here on.
void PointsTo::mark_array(uint32_t index, uint64_t start, uint64_t stride, uint64_t extent) {
  auto [begin, end] = bounds(objects_[index], start, stride);
  if (end == UINT64_MAX && extent != UINT64_MAX) end = start + extent;
  mark(index, {begin, end, std::max<uint64_t>(stride, 1)});
}

// What was told apart before is merged.
void PointsTo::mark(uint32_t index, Object::Array merged) {
  Object& object = objects_[index];
  auto same = std::find_if(object.arrays.begin(), object.arrays.end(), [&](const Object::Array& array) {
    return merged.end == UINT64_MAX ? array.end == UINT64_MAX
                                    : array.begin == merged.begin && array.end == merged.end;
  });
  if (same != object.arrays.end()) {
    const uint64_t begin = std::min(same->begin, merged.begin),
                   apart = std::max(same->begin, merged.begin) - begin;
    merged = {begin, merged.end,
              std::max<uint64_t>(std::gcd(std::gcd(same->stride, merged.stride), apart), 1)};
    if (merged == *same) return;
    *same = merged;
  } else {
    object.arrays.push_back(merged);
  }
  std::sort(object.arrays.begin(), object.arrays.end(), [](const Object::Array& a, const Object::Array& b) {
    return std::tuple(b.end - b.begin, a.begin) < std::tuple(a.end - a.begin, b.begin);
  });
  const std::vector<uint32_t> known = by_object_[index];
  for (uint32_t old : known) {
    const Location single = normal(locations_[old]);
    if (single == locations_[old]) continue;
    auto found = location_ids_.find(single);
    uint32_t into;
    if (found != location_ids_.end()) {
      into = found->second;
    } else {
      into = static_cast<uint32_t>(locations_.size());
      location_ids_[single] = into;
      locations_.push_back(single);
      location_nodes_.push_back(fresh());
      by_object_[index].push_back(into);
    }
    copy(location_nodes_[old], location_nodes_[into]);
    copy(location_nodes_[into], location_nodes_[old]);
  }
}

void PointsTo::add(Node node, uint32_t location) {
  if (!nodes_[node].points_to.test_and_set(location)) return;
  if (!nodes_[node].queued) {
    nodes_[node].queued = true;
    worklist_.push_back(node);
  }
}

void PointsTo::copy(Node from, Node to) {
  if (from == to || !edges_.insert({from, to}).second) return;
  nodes_[from].copies.push_back(to);
  if ((nodes_[to].points_to |= nodes_[from].points_to)) {
    if (!nodes_[to].queued) {
      nodes_[to].queued = true;
      worklist_.push_back(to);
    }
  }
}

void PointsTo::connect(uint32_t number, const Function& callee) {
  if (!connected_.insert({number, &callee}).second) return;
  const Call call = calls_[number];
  if (call.starts_thread) {
    started_.push_back({call.at, &callee});
  } else {
    targets_[call.at].insert(&callee);
  }
  for (size_t i = 0; i < call.arguments.size() && i < callee.arg_size(); ++i)
    copy(call.arguments[i], node(callee.getArg(static_cast<unsigned>(i))));
  auto [it, first] = result_nodes_.try_emplace(&callee, 0);
  if (first) {
    const Node to = fresh();
    result_nodes_[&callee] = to;
  }
  copy(result_nodes_[&callee], call.result);
}

void PointsTo::visit(Node node) {
  Set fresh_part = nodes_[node].points_to;
  fresh_part.intersectWithComplement(nodes_[node].done);
  nodes_[node].done = nodes_[node].points_to;
  // Indexes, since the vectors may grow and move meanwhile.
  for (size_t i = 0; i < nodes_[node].copies.size(); ++i) {
    const Node to = nodes_[node].copies[i];
    if ((nodes_[to].points_to |= fresh_part)) {
      if (!nodes_[to].queued) {
        nodes_[to].queued = true;
        worklist_.push_back(to);
      }
    }
  }
  for (uint32_t at : fresh_part) {
    const Location place = locations_[at];
    for (size_t i = 0; i < nodes_[node].steps.size(); ++i) {
      const Step step = nodes_[node].steps[i];
      if (objects_[place.object].kind == ObjectKind::Code ||
          objects_[place.object].kind == ObjectKind::Thread) {
        add(step.target, at);
        continue;
      }
      const int64_t moved = static_cast<int64_t>(place.offset) + step.offset;
      const uint64_t offset = moved < 0 ? 0 : static_cast<uint64_t>(moved);
      if (offset >= objects_[place.object].size && offset != 0) continue;  // behind the end: nothing is there
      if (step.stride != 0) mark_array(place.object, offset, step.stride, step.extent);
      const uint32_t target = location({place.object, offset});
      add(step.target, target);
    }
    for (size_t i = 0; i < nodes_[node].loads.size(); ++i) copy(memory(at), nodes_[node].loads[i]);
    for (size_t i = 0; i < nodes_[node].stores.size(); ++i) copy(nodes_[node].stores[i], memory(at));
    for (size_t i = 0; i < nodes_[node].calls.size(); ++i) {
      const auto* callee = dyn_cast<Function>(objects_[place.object].at);
      if (callee != nullptr && !callee->isDeclaration()) connect(nodes_[node].calls[i], *callee);
    }
  }
}

// Copies of memory: every location of the source that lies in the range. True if an edge is new.
bool PointsTo::transfer() {
  const size_t before = edges_.size();
  for (const Transfer& transfer : transfers_) {
    const Set targets = nodes_[transfer.target].points_to, sources = nodes_[transfer.source].points_to;
    for (uint32_t from : sources) {
      const Location source = locations_[from];
      const std::vector<uint32_t> parts = by_object_[source.object];
      for (uint32_t to : targets) {
        const Location target = locations_[to];
        for (uint32_t part : parts) {
          const uint64_t offset = locations_[part].offset;
          if (offset < source.offset || offset - source.offset >= transfer.bytes) continue;
          copy(memory(part), memory(location({target.object, target.offset + (offset - source.offset)})));
        }
      }
    }
  }
  return edges_.size() != before;
}

void PointsTo::solve() {
  // Constraints that were added after a node was first visited see its whole set again.
  do {
    while (!worklist_.empty()) {
      const Node next = worklist_.back();
      worklist_.pop_back();
      nodes_[next].queued = false;
      visit(next);
    }
  } while (transfer());
}

std::vector<Location> PointsTo::pointees(const Value* pointer) const {
  pointer = pointer->stripPointerCasts();
  std::vector<Location> result;
  auto found = value_nodes_.find(pointer);
  if (found == value_nodes_.end()) {
    auto object = object_ids_.find(pointer);
    if (object != object_ids_.end()) result.push_back({object->second, 0});
    return result;
  }
  for (uint32_t at : nodes_[found->second].points_to) result.push_back(normal(locations_[at]));
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<Location> PointsTo::contents(Location at) const {
  std::vector<Location> result;
  auto found = location_ids_.find(normal(at));
  if (found == location_ids_.end()) return result;
  for (uint32_t held : nodes_[location_nodes_[found->second]].points_to)
    result.push_back(normal(locations_[held]));
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<Location> PointsTo::locations_of(uint32_t object) const {
  std::vector<Location> result;
  for (uint32_t at : by_object_[object]) result.push_back(locations_[at]);
  return result;
}

std::vector<const Function*> PointsTo::callees(const CallBase& call) const {
  std::vector<const Function*> result;
  auto found = targets_.find(&call);
  if (found == targets_.end()) return result;
  result.assign(found->second.begin(), found->second.end());
  std::sort(result.begin(), result.end(),
            [](const Function* a, const Function* b) { return a->getName() < b->getName(); });
  return result;
}

}  // namespace cleave::static_analysis
