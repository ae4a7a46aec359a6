#include "hunt/minimize.h"

#include <algorithm>
#include <optional>

namespace cleave::hunt {
namespace {

class Search {
 public:
  Search(const std::vector<Switch>& switches, const Fails& fails, const MinimizeOptions& options)
      : switches_(switches), fails_(fails), options_(options) {}

  Result<Minimized> run() {
    std::vector<size_t> all(switches_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = i;
    result_.reproduced = fail(all);
    if (result_.reproduced && fail({})) {
      result_.always = result_.minimal = true;
    } else if (result_.reproduced) {
      std::vector<size_t> needed = collect(all);
      result_.minimal = !over() && leave_out(needed);
      for (size_t index : needed) result_.needed.push_back(switches_[index]);
    }
    if (error_) return *error_;
    return result_;
  }

 private:
  bool over() const {
    return error_ || result_.runs >= options_.most_runs || (options_.interrupted && options_.interrupted());
  }

  // When nothing may be run any more a set counts as not failing, so that what is known to fail is kept.
  bool fail(const std::vector<size_t>& indexes) {
    if (over()) return false;
    ++result_.runs;
    std::vector<Switch> chosen;
    chosen.reserve(indexes.size());
    for (size_t index : indexes) chosen.push_back(switches_[index]);
    Result<bool> answer = fails_(chosen);
    if (!answer) {
      error_ = answer.error();
      return false;
    }
    return answer.value();
  }

  static std::vector<size_t> joined(const std::vector<size_t>& prefix, size_t count,
                                    const std::vector<size_t>& kept) {
    std::vector<size_t> both(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(count));
    both.insert(both.end(), kept.begin(), kept.end());
    return both;
  }

  // A set that fails, built from its last switch to its first. `open` together with what is kept always
  // fails.
  std::vector<size_t> collect(std::vector<size_t> open) {
    std::vector<size_t> kept;
    while (!open.empty()) {
      // Fails with the first `high` of the open ones, does not (as far as it was asked) with the first `low`.
      size_t low = 0, high = open.size();
      while (high - low > 1 && !over()) {
        size_t middle = low + (high - low) / 2;
        (fail(joined(open, middle, kept)) ? high : low) = middle;
      }
      kept.insert(kept.begin(), open[high - 1]);
      open.resize(high - 1);
      if (over()) {
        kept.insert(kept.begin(), open.begin(), open.end());
        break;
      }
      if (open.empty() || fail(kept)) break;
    }
    return kept;
  }

  // Leaves out what is not needed after all. True when each of the rest is.
  bool leave_out(std::vector<size_t>& needed) {
    for (bool changed = true; changed && needed.size() > 1;) {
      changed = false;
      for (size_t i = 0; i < needed.size() && needed.size() > 1;) {
        std::vector<size_t> fewer = needed;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
        bool enough = fail(fewer);
        if (!enough && over()) return false;
        if (enough) {
          needed = std::move(fewer);
          changed = true;
        } else {
          ++i;
        }
      }
    }
    return true;
  }

  const std::vector<Switch>& switches_;
  const Fails& fails_;
  const MinimizeOptions& options_;
  Minimized result_;
  std::optional<Error> error_;
};

}  // namespace

Result<Minimized> minimize(const std::vector<Switch>& switches, const Fails& fails,
                           const MinimizeOptions& options) {
  return Search(switches, fails, options).run();
}

}  // namespace cleave::hunt
