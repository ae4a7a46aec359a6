#include "analysis/conflict/cycles.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "findings/place.h"
#include "trace/core/no_value.h"

namespace cleave::conflict {
namespace {

std::string_view word_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::WriteRead:
      return "WR";
    case EdgeKind::ReadWrite:
      return "RW";
    case EdgeKind::WriteWrite:
      return "WW";
    default:
      return "order";
  }
}

std::string_view order_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::Lock:
      return "lock";
    case EdgeKind::ProgramOrder:
      return "program order";
    case EdgeKind::Fork:
      return "fork";
    case EdgeKind::Join:
      return "join";
    default:
      return "";
  }
}

bool is_conflict(EdgeKind kind) { return kind <= EdgeKind::WriteWrite; }

// Where the smallest rotation of a cyclic sequence starts, by the words themselves, so that ids of findings
// do not depend on what was seen first. Quadratic at worst; cycles are short.
size_t smallest_rotation(const std::vector<uint32_t>& words, const std::vector<const std::string*>& texts) {
  size_t best = 0, n = words.size();
  for (size_t start = 1; start < n; ++start) {
    for (size_t i = 0; i < n; ++i) {
      uint32_t a = words[(start + i) % n], b = words[(best + i) % n];
      if (a == b) continue;
      if (*texts[a] < *texts[b]) best = start;
      break;
    }
  }
  return best;
}

// "its read of Table::map_ (table.cpp:9)"
std::string did(const AccessReport& access) {
  std::string text = fmt::format("its {}", access.op);
  if (!access.variable.empty()) text += " of " + access.variable;
  if (access.file.empty()) return text;
  size_t slash = access.file.rfind('/');
  return text + fmt::format(" ({}:{})",
                            slash == std::string::npos ? access.file : access.file.substr(slash + 1),
                            access.line);
}

std::string why_split(const Finding& finding) {
  const size_t n = finding.units.size();
  const UnitReport& split = finding.units[finding.split];
  const UnitReport& next = finding.units[(finding.split + 1) % n];
  const std::string between =
      n == 2 ? fmt::format("{} of {} comes", next.name, next.thread)
             : fmt::format("{} of {} and the others, one before the next, come", next.name, next.thread);
  return fmt::format(
      "{} of {} is split: {} after {} and before {}. No serial order of the {} units has its conflicts in "
      "this order.",
      split.name, split.thread, between, did(finding.edges[finding.split].first),
      did(finding.edges[(finding.split + n - 1) % n].second), n);
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
  return text;
}

}  // namespace

size_t CycleLog::KeyHash::operator()(const Key& key) const {
  size_t h = key.size();
  for (uint32_t word : key) h = (h ^ word) * 0x9e3779b97f4a7c15ull, h ^= h >> 31;
  return h;
}

uint32_t CycleLog::intern(const std::string& text) {
  auto [it, fresh] = words_.try_emplace(text, static_cast<uint32_t>(words_.size()));
  if (fresh) texts_.push_back(&it->first);  // keys of an unordered_map stay where they are
  return it->second;
}

// An additional unit stands on the union of its sets, so the edges of one cycle may be on several.
std::string CycleLog::set_name(const Cycle& cycle) const {
  if (one_) return "all memory";
  std::set<std::string> names;
  for (const CycleStep& step : cycle) {
    if (is_conflict(step.edge.kind)) names.emplace(names_.set(step.edge));
  }
  return joined(names);
}

std::string CycleLog::label(const NodeInfo& node) const {
  if (node.unit.lock == kNone<SyncId>) return unit_label(tables_, node.unit, lock_functions_);
  return unit_label(tables_, node.unit, lock_functions_, names_.sync(node.unit.lock, node.era));
}

// A section may still be open, and the first of its kind: then its accesses tell which functions took its
// lock for it.
void CycleLog::learn_lock_functions(const Cycle& cycle) {
  for (size_t i = 0; i < cycle.size(); ++i) {
    const CycleStep &before = cycle[(i + cycle.size() - 1) % cycle.size()], &step = cycle[i];
    const Unit& unit = step.node.unit;
    if (unit.lock == kNone<SyncId>) continue;
    if (is_conflict(before.edge.kind))
      lock_functions_.held(unit.site, unit.context, before.edge.second.context);
    if (is_conflict(step.edge.kind)) lock_functions_.held(unit.site, unit.context, step.edge.first.context);
  }
}

void CycleLog::add(const Cycle& cycle) {
  ++seen_;
  learn_lock_functions(cycle);
  std::vector<uint32_t> labels;
  for (const CycleStep& step : cycle) labels.push_back(intern(label(step.node)));
  const uint32_t split = labels.front();
  size_t rotation = smallest_rotation(labels, texts_);
  std::rotate(labels.begin(), labels.begin() + static_cast<ptrdiff_t>(rotation), labels.end());
  Key key = std::move(labels);
  const uint32_t set = intern(set_name(cycle));
  key.push_back(set);
  if (auto known = index_.find(key); known != index_.end()) {
    ++found_[known->second].occurrences;
    return;
  }
  const uint64_t hash = KeyHash()(key);
  if (counted_.contains(hash)) return;
  ++sizes_[cycle.size()];
  if (!keep(split, set, cycle.size())) {
    counted_.insert(hash);
    return;
  }
  index_.emplace(std::move(key), found_.size());
  found_.push_back(describe(cycle, rotation));
  if (fresh_) fresh_(found_.back());
}

bool CycleLog::keep(uint32_t unit, uint32_t set, size_t size) {
  Split& split = splits_[uint64_t{unit} << 32 | set];
  if (split.steps + size > kMostSteps && size >= split.shortest) return false;
  split.steps += size;
  split.shortest = std::min(split.shortest, size);
  return true;
}

AccessReport CycleLog::describe(const Unit& unit, EventKind kind, const Access& access,
                                const std::string& variable) const {
  AccessReport report;
  report.thread = tables_.thread(unit.thread).name;
  // Of an update a cycle has what it wrote.
  put_operation(report, kind == EventKind::Update ? EventKind::Write : kind, access.value);
  if (kind == EventKind::Update) report.op = cleave::word_of(kind);
  report.variable = variable;
  put_place(report, tables_, access.site, access.context);
  return report;
}

Finding CycleLog::describe(const Cycle& cycle, size_t rotation) const {
  Finding finding;
  finding.kind = FindingKind::Cycle;
  finding.verdict = Verdict::Witnessed;
  finding.set = set_name(cycle);
  const size_t n = cycle.size();
  std::vector<std::string> labels;
  for (size_t i = 0; i < n; ++i) {
    const CycleStep& from = cycle[(rotation + i) % n];
    const CycleStep& to = cycle[(rotation + i + 1) % n];
    labels.push_back(label(from.node));
    finding.units.push_back({labels.back(), tables_.thread(from.node.unit.thread).name});
    EdgeReport edge{.from = static_cast<uint32_t>(i), .to = static_cast<uint32_t>((i + 1) % n)};
    edge.conflict = word_of(from.edge.kind);
    if (is_conflict(from.edge.kind)) {
      edge.variable = names_.variable(from.edge);
      const bool of_split = &from == &cycle.front();
      if (finding.variable.empty() || of_split) finding.variable = edge.variable;
    } else {
      edge.variable = from.edge.object == UINT32_MAX ? order_of(from.edge.kind)
                                                     : names_.sync(SyncId{from.edge.object}, from.edge.era);
    }
    edge.first = describe(from.node.unit, from.edge.first_kind, from.edge.first, edge.variable);
    edge.second = describe(to.node.unit, from.edge.second_kind, from.edge.second, edge.variable);
    edge.first.role = Role::From;
    edge.second.role = Role::To;
    finding.edges.push_back(std::move(edge));
  }
  // The unit that the closing edge enters: the others all came between something it did and what it does now.
  // They may be innocent; this one is not, so the finding is called after it.
  finding.split = static_cast<uint32_t>((n - rotation) % n);
  finding.unit = labels[finding.split];
  if (units_ != nullptr) finding.cause = cause_of(tables_, *units_, cycle.front().node.unit);
  finding.id = finding_id(FindingKind::Cycle, Pattern::None, finding.set, labels);
  finding.why = why_split(finding);
  return finding;
}

std::vector<Finding> CycleLog::findings() const {
  std::vector<size_t> order(found_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    size_t size_a = found_[a].units.size(), size_b = found_[b].units.size();
    return size_a != size_b ? size_a < size_b : a < b;
  });
  std::vector<Finding> sorted;
  for (size_t i : order) sorted.push_back(found_[i]);
  separate_ids(sorted);
  return sorted;
}

}  // namespace cleave::conflict
