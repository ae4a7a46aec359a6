#include "report/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "report/explain.h"
#include "report/same_split.h"

namespace cleave::report {
namespace {

// `*` is any text, `?` any character. Linear in practice: on a mismatch only the last `*` is given one more
// character.
bool matches(std::string_view glob, std::string_view text) {
  size_t g = 0, t = 0, star = std::string_view::npos, retry = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      retry = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g, ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return std::all_of(glob.begin() + static_cast<std::ptrdiff_t>(g), glob.end(),
                     [](char c) { return c == '*'; });
}

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// Whether `text` could be meant as an id: then it must be one, lest a slip of the pen suppress nothing in
// silence.
bool looks_like_id(std::string_view text) { return text.starts_with("CLV-"); }

bool is_id(std::string_view text) {
  return text.size() == 12 && std::all_of(text.begin() + 4, text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace

namespace {

bool covers_word(const std::string& word, const Finding& finding) {
  return looks_like_id(word) ? word == finding.id : matches(word, finding.variable);
}

}  // namespace

bool Suppressions::covers(const Finding& finding) const {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return covers_word(word, finding); });
}

Result<Suppressions> parse_suppressions(std::string_view text, std::string_view place) {
  Suppressions suppressions;
  size_t line_number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    if (looks_like_id(line) && !is_id(line)) {
      return Error{fmt::format("{}:{}", place, line_number),
                   fmt::format("`{}` is not an id; ids are CLV- and eight hex digits", line)};
    }
    suppressions.words.emplace(line);
  }
  return suppressions;
}

void sort_findings(Findings& findings) {
  std::vector<Finding>& list = findings.findings;
  auto key = [&list](size_t i) {
    const Finding& finding = list[i];
    return std::tuple(-static_cast<int>(finding.verdict), finding.rank, finding.pattern == Pattern::WWW,
                      finding.units.size(), std::string_view(finding.variable),
                      std::string_view(finding.unit), finding.pattern, std::string_view(finding.id), i);
  };
  std::vector<size_t> order(list.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) < key(b); });
  std::vector<Finding> sorted;
  sorted.reserve(list.size());
  for (size_t i : order) sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

namespace {

bool in_library(const Finding& finding) {
  auto within = [](const AccessReport& access) { return !inside(access).empty(); };
  return std::any_of(finding.accesses.begin(), finding.accesses.end(), within) ||
         std::any_of(finding.edges.begin(), finding.edges.end(),
                     [&](const EdgeReport& edge) { return within(edge.first) || within(edge.second); });
}

// What a person sees of where a finding is; an access of the library's is where the library was called.
std::vector<std::string> places_of(const Finding& finding) {
  std::vector<std::string> seen;
  auto add = [&](const AccessReport& access) {
    seen.push_back(fmt::format("{} {}", access.op, place(access)));
  };
  for (const AccessReport& access : finding.accesses) add(access);
  for (const EdgeReport& edge : finding.edges) add(edge.first), add(edge.second);
  return seen;
}

std::vector<std::string> id_and_places(const Finding& finding) {
  std::vector<std::string> seen = places_of(finding);
  seen.push_back(finding.id);
  return seen;
}

std::vector<std::string> contents_and_places(const Finding& finding) {
  std::vector<std::string> seen = places_of(finding);
  for (std::string_view word : {word_of(finding.kind), word_of(finding.pattern),
                                std::string_view(finding.variable), std::string_view(finding.set)})
    seen.emplace_back(word);
  for (const UnitReport& unit : finding.units) seen.push_back(unit.name);
  return seen;
}

struct Joined {
  Finding finding;
  bool library = false;  // one of those that it stands for is of the library's insides
};

void join(Joined& into, Joined other) {
  const uint64_t occurrences = into.finding.occurrences + other.finding.occurrences;
  std::string id = std::min(into.finding.id, other.finding.id);
  if (other.finding.verdict > into.finding.verdict) into.finding = std::move(other.finding);
  into.finding.occurrences = occurrences;
  into.finding.id = std::move(id);
  into.library = into.library || other.library;
}

}  // namespace

// Two rounds: an access in the library and one next to it, at the same line, may have one id.
void join_same_findings(Findings& findings) {
  std::vector<Joined> kept;
  std::map<std::vector<std::string>, size_t> first;
  for (Finding& finding : findings.findings) {
    auto [it, fresh] = first.try_emplace(id_and_places(finding), kept.size());
    Joined one{.finding = std::move(finding)};
    one.library = in_library(one.finding);
    if (fresh)
      kept.push_back(std::move(one));
    else
      join(kept[it->second], std::move(one));
  }
  first.clear();
  std::vector<Joined> rest;
  for (Joined& one : kept) {
    auto [it, fresh] = one.library ? first.try_emplace(contents_and_places(one.finding), rest.size())
                                   : std::pair(first.end(), true);
    if (fresh)
      rest.push_back(std::move(one));
    else
      join(rest[it->second], std::move(one));
  }
  findings.findings.clear();
  for (Joined& one : rest) findings.findings.push_back(std::move(one.finding));
  separate_ids(findings.findings);  // a run may have had one of two at other places
}

namespace {

// Findings that were spoken of, by their ids, and the cycles that say the same as one of them.
class SpokenOf {
 public:
  void add(const Finding& finding) {
    ids_.insert(finding.id);
    if (finding.kind == FindingKind::Cycle) cycles_.push_back(finding);
  }
  bool covers(const Finding& finding) const {
    return ids_.contains(finding.id) ||
           std::any_of(cycles_.begin(), cycles_.end(),
                       [&](const Finding& cycle) { return same_split(finding, cycle); });
  }

 private:
  std::set<std::string> ids_;
  std::vector<Finding> cycles_;
};

}  // namespace

bool left_out(const Finding& finding, const Selection& selection) {
  SpokenOf known;
  for (const Finding& other : selection.baseline) known.add(other);
  return known.covers(finding) || selection.suppressions.covers(finding);
}

Selected select(Findings& findings, const Selection& selection) {
  Selected selected;
  std::erase_if(findings.findings, [&](const Finding& finding) {
    return finding.verdict == Verdict::Infeasible && !selection.keep_infeasible;
  });
  join_same_findings(findings);
  for (const std::string& word : selection.suppressions.words) {
    if (std::none_of(findings.findings.begin(), findings.findings.end(),
                     [&](const Finding& finding) { return covers_word(word, finding); }))
      selected.unmatched.push_back(word);
  }
  SpokenOf suppressed, known;
  for (const Finding& finding : findings.findings) {
    if (selection.suppressions.words.contains(finding.id)) suppressed.add(finding);
  }
  for (const Finding& finding : selection.baseline) known.add(finding);
  std::erase_if(findings.findings, [&](const Finding& finding) {
    if (suppressed.covers(finding) || selection.suppressions.covers(finding))
      return ++selected.suppressed, true;
    if (known.covers(finding)) return ++selected.known, true;
    selected.fails = selected.fails || finding.verdict >= selection.fail_on;
    return false;
  });
  sort_findings(findings);
  return selected;
}

}  // namespace cleave::report
