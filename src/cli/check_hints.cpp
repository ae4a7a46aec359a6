#include "cli/check_hints.h"

#include <fmt/format.h>

#include <filesystem>

#include "analysis/conflict/hints.h"
#include "cli/check_source.h"

namespace cleave::cli {

void add_hints(const Trace& tables, const conflict::CheckOptions& options, std::span<Finding> findings,
               const std::string& trace, uint64_t most, std::vector<std::string>& remarks) {
  conflict::SecondLook again;
  if (conflict::locks_may_matter(tables, options, findings)) {
    std::error_code unreadable;
    const uint64_t bytes = std::filesystem::file_size(trace, unreadable);
    if (!unreadable && bytes > most) {
      remarks.push_back(fmt::format(
          "there are no hints about locks: for them a trace of up to {} MB is gone through again, and "
          "this one has {}",
          most >> 20, bytes >> 20));
    } else {
      again = [&]() -> Result<std::unique_ptr<EventSource>> {
        Result<std::unique_ptr<CheckSource>> source = CheckSource::open(trace, takes_stretches(options));
        if (!source) return source.error();
        return std::unique_ptr<EventSource>(std::move(source).value());
      };
    }
  }
  if (Status looked = conflict::add_hints(tables, options, findings, again); !looked)
    remarks.push_back(fmt::format("there are no hints about locks: {}", looked.error().sentence()));
}

}  // namespace cleave::cli
