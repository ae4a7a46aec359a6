// A text trace run through the stages.
#pragma once

#include <string_view>

#include "analysis/predict/predict.h"
#include "trace/text/text.h"
#include "units/sets.h"

namespace cleave::prediction {

struct Predicted {
  explicit Predicted(std::string_view text, const PredictOptions& options = {})
      : trace(parse_text_trace(text, "test").value()),
        sets({}, trace),
        units(map_units(trace, {}, sets)),
        facts(trace, units),
        prediction(predict(facts, options)) {}

  const StageReport& stage(std::string_view name) const {
    for (const StageReport& stage : prediction.stages) {
      if (stage.name == name) return stage;
    }
    static const StageReport kNone;
    return kNone;
  }
  uint64_t triples(std::string_view name) const { return stage(name).triples; }
  uint64_t sites(std::string_view name) const { return stage(name).sites; }
  // Program locations that stage exact keeps by value, not strictly.
  uint64_t by_value() const {
    auto found = stage("exact").counts.find("sites kept by value only");
    return found == stage("exact").counts.end() ? UINT64_MAX : found->second;
  }

  Trace trace;
  SetMap sets;
  UnitMap units;
  TraceIndex facts;
  Prediction prediction;
};

}  // namespace cleave::prediction
