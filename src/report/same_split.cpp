#include "report/same_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/explain.h"

namespace cleave::report {
namespace {

std::set<std::string> parts_of(const std::string& set) {
  std::set<std::string> parts;
  for (size_t at = 0; at <= set.size();) {
    const size_t end = std::min(set.find('+', at), set.size());
    parts.insert(set.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Between which two places the unit was split.
std::string where_split(const Finding& cycle) {
  if (cycle.edges.size() != cycle.units.size()) return {};
  const std::string before = place(cycle.edges[cycle.split].first),
                    after = place(
                        cycle.edges[(cycle.split + cycle.units.size() - 1) % cycle.units.size()].second);
  if (before.empty() || after.empty()) return {};
  return before == after ? fmt::format("at {}", before) : fmt::format("between {} and {}", before, after);
}

template <typename Names>
std::string listed(const Names& names, size_t most) {
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count == most) return text + fmt::format(" and {} more", names.size() - most);
    text += (count++ == 0 ? "" : ", ") + name;
  }
  return text;
}

}  // namespace

bool same_split(const Finding& cycle, const Finding& shown) {
  if (cycle.kind != FindingKind::Cycle || shown.kind != FindingKind::Cycle) return false;
  if (cycle.split >= cycle.units.size() || shown.split >= shown.units.size()) return false;
  if (cycle.unit != shown.unit || cycle.verdict != shown.verdict) return false;
  const std::set<std::string> all = parts_of(cycle.set), some = parts_of(shown.set);
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

std::vector<SameSplit> same_splits(const std::vector<Finding>& findings) {
  std::vector<SameSplit> groups;
  for (size_t i = 0; i < findings.size(); ++i) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const SameSplit& known) {
      return same_split(findings[i], findings[known.shown]);
    });
    if (group == groups.end())
      groups.push_back({.shown = i, .others = {}});
    else
      group->others.push_back(i);
  }
  return groups;
}

std::string others_sentence(const std::vector<Finding>& findings, const SameSplit& group,
                            const std::string& how) {
  if (group.others.empty()) return {};
  constexpr size_t kNamed = 4;
  const Finding& shown = findings[group.shown];
  std::set<std::string> partners, places;
  size_t least = SIZE_MAX, most = 0;
  for (size_t i : group.others) {
    const Finding& other = findings[i];
    least = std::min(least, other.units.size());
    most = std::max(most, other.units.size());
    for (size_t u = 0; u < other.units.size(); ++u) {
      if (u != other.split) partners.insert(other.units[u].name);
    }
    places.insert(where_split(other));
  }
  for (const UnitReport& unit : shown.units) partners.erase(unit.name);
  places.erase(where_split(shown));
  places.erase("");
  const size_t count = group.others.size();
  std::string text = fmt::format(
      "{} more cycle{} split{} {} on {}, of {} units", count, count == 1 ? "" : "s", count == 1 ? "s" : "",
      shown.unit, shown.set, least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most));
  if (!partners.empty()) text += ", with " + listed(partners, kNamed);
  if (!places.empty()) text += "; also " + listed(places, kNamed);
  return text + (how.empty() ? "." : fmt::format("; {} {}.", how, count == 1 ? "it" : "them"));
}

}  // namespace cleave::report
