// What the tool finds in libcleave_static.so.
#include "analysis/static/static_analysis.h"

extern "C" __attribute__((visibility("default"))) void cleave_analyze_statically(
    const cleave::Program* program, const cleave::static_analysis::StaticOptions* options,
    cleave::Findings* findings, cleave::Status* status) {
  cleave::Result<cleave::Findings> result = cleave::static_analysis::analyze(*program, *options);
  if (result.ok()) {
    *findings = std::move(result).value();
  } else {
    *status = result.error();
  }
}
