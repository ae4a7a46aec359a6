// What `cleave check TRACE` judges: the events one batch after another, whatever form the trace has, with
// memory for what there is at a time and not for the trace. All but Cleave's text, which is loaded, are read
// in a thread of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/conflict/check.h"
#include "base/progress.h"
#include "trace/core/load.h"
#include "trace/live/read_ahead.h"
#include "trace/recorded/reader.h"

namespace cleave::cli {

// Whether the events may be read with ReadOptions::stretches. A stretch has no value, and what is stored in a
// field that only cleave.toml calls owned has to be seen; those that the program itself calls so are never
// part of one.
inline bool takes_stretches(const conflict::CheckOptions& options) { return options.sets.owned.empty(); }

class CheckSource final : public EventSource {
 public:
  // `stretches` as in ReadOptions. `progress`, if there is one, is told of every event. When interrupted(),
  // the events end.
  static Result<std::unique_ptr<CheckSource>> open(const std::string& path, bool stretches,
                                                   Progress* progress = nullptr);

  Result<std::span<const Event>> next() override;
  std::span<const VariableSplit> splits() const override { return events().splits(); }
  const FreedIds& freed() const override { return events().freed(); }
  uint64_t old_value(size_t position) const override { return events().old_value(position); }
  const Trace& tables() const override { return events().tables(); }
  // Ends the reading: to be asked last.
  bool complete() const override;
  // What there is to say about the trace; complete at the end.
  std::vector<std::string> remarks() const;

 private:
  template <typename Source>
  Source* read_ahead(std::unique_ptr<Source> source);
  EventSource& events() const { return ahead_ ? *ahead_ : *source_; }

  std::unique_ptr<EventSource> source_;
  BinarySource* binary_ = nullptr;    // the same, if it is one
  std::unique_ptr<ReadAhead> ahead_;  // reads it
  uint64_t bytes_ = 0;                // of its file
  Progress* progress_ = nullptr;
};

}  // namespace cleave::cli
