// A text trace run through the stages.
#pragma once

#include <string_view>

#include "analysis/predict/predict.h"
#include "model/sets.h"
#include "trace/text.h"

namespace cleave::prediction {

struct Predicted {
  explicit Predicted(std::string_view text, const PredictOptions& options = {})
      : trace(parse_text_trace(text, "test").value()), sets({}, trace), units(map_units(trace, {}, sets)),
        facts(trace, units), prediction(predict(facts, options)) {}

  const StageReport& stage(std::string_view name) const {
    for (const StageReport& stage : prediction.stages) {
      if (stage.name == name) return stage;
    }
    static const StageReport kNone;
    return kNone;
  }
  uint64_t triples(std::string_view name) const { return stage(name).triples; }
  uint64_t sites(std::string_view name) const { return stage(name).sites; }

  Trace trace;
  SetMap sets;
  UnitMap units;
  Facts facts;
  Prediction prediction;
};

}  // namespace cleave::prediction
