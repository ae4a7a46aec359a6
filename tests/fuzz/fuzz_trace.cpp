// libFuzzer over every decoder of this room; built with -DCLEAVE_FUZZ=ON (clang, with the sanitizers). The
// first byte chooses the decoder, so that one corpus serves all: 0 binary, 1 text, 2 RAPID, 3 site tables, 4
// an expression.
#include <unistd.h>
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "tables/site_tables.h"
#include "trace/core/expression.h"
#include "trace/core/load.h"
#include "trace/core/validate.h"
#include "trace/damage.h"
#include "trace/recorded/reader.h"
#include "trace/text/rapid.h"
#include "trace/text/text.h"

using namespace cleave;

static void binary(std::string bytes) {
  static const std::string path = "/tmp/cleave_fuzz." + std::to_string(getpid());
  correct_checksums(bytes);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  if (auto source = open_trace(path)) (void)validate_trace(*source.value());
  if (auto source = open_binary_trace(path, {.reuse_ids = true})) {
    for (auto batch = source.value()->next(); batch && !batch.value().empty();)
      batch = source.value()->next();
  }
  if (auto trace = load_trace(path)) (void)write_text_trace(trace.value());
}

static void text(std::string_view bytes) {
  Result<Trace> trace = parse_text_trace(bytes, "fuzz");
  if (!trace) return;
  Result<Trace> again = parse_text_trace(write_text_trace(trace.value()), "fuzz");
  CLEAVE_CHECK(again.ok() && again.value() == trace.value(), "a text trace survives a round trip");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      binary(std::string(rest));
      break;
    case 1:
      text(rest);
      break;
    case 2:
      (void)parse_rapid_trace(rest, "fuzz");
      break;
    case 3:
      (void)decode_site_tables({data + 1, size - 1});
      break;
    default:
      (void)measure_expression(rest, [](std::string_view name) { return name.size() % 2 == 0; });
      break;
  }
  return 0;
}
