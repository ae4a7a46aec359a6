#include "trace/imported/imported_events.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "trace/core/load.h"
#include "trace/damage.h"
#include "trace/generate.h"
#include "trace/text/text.h"

namespace cleave {
namespace {

std::string path() {
  return testing::TempDir() + "plain_events_test." + std::to_string(getpid()) + ".cleave";
}

TEST(PlainEvents, HundredsOfTracesSurviveTextToMemoryToBinaryAndBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Trace trace = generate_trace(seed, {.plain = seed % 4 == 0, .events = 30 + seed % 90});
    std::ofstream(path(), std::ios::binary) << write_binary_trace(trace);
    Result<Trace> loaded = load_trace(path());
    ASSERT_TRUE(loaded.ok()) << "seed " << seed << ": " << loaded.error().sentence();
    ASSERT_TRUE(loaded.value() == trace) << "seed " << seed;
    Result<Trace> text = parse_text_trace(write_text_trace(loaded.value()), "t");
    ASSERT_TRUE(text.ok() && text.value() == trace) << "seed " << seed;
  }
  std::remove(path().c_str());
}

TEST(PlainEvents, TheSourceGivesTheSameEvents) {
  Trace trace = generate_trace(5, {.events = 200000});
  std::ofstream(path(), std::ios::binary) << write_binary_trace(trace);
  Result<std::unique_ptr<EventSource>> source = open_trace(path());
  ASSERT_TRUE(source.ok());
  size_t at = 0;
  for (;;) {
    Result<std::span<const Event>> batch = source.value()->next();
    ASSERT_TRUE(batch.ok());
    if (batch.value().empty()) break;
    for (size_t i = 0; i < batch.value().size(); ++i, ++at) {
      ASSERT_EQ(batch.value()[i], trace.events()[at]);
      if (batch.value()[i].kind == EventKind::Update) {
        ASSERT_EQ(source.value()->old_value(i), trace.old_value(id_of<EventIndex>(at)));
      }
    }
  }
  EXPECT_EQ(at, trace.size());
  EXPECT_TRUE(source.value()->complete());
  std::remove(path().c_str());
}

Trace named_only(size_t variables) {
  TraceBuilder builder;
  for (size_t i = 0; i < variables; ++i)
    builder.read("T1", i == 3 ? "" : "variable " + std::to_string(i * i), 0);
  return std::move(builder).build();
}

// Variables of which only names are known: a stream leaves the names in the file until they are wanted.
TEST(PlainEvents, NamesAreReadWhenTheyAreWanted) {
  Trace trace = named_only(1000);
  std::ofstream(path(), std::ios::binary) << write_binary_trace(trace);
  Result<Trace> loaded = load_trace(path());
  ASSERT_TRUE(loaded.ok()) << loaded.error().sentence();
  EXPECT_EQ(loaded.value(), trace);
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path());
  ASSERT_TRUE(source.ok());
  const Trace& tables = source.value()->tables();
  EXPECT_EQ(tables.variable_count(), 1000u);
  EXPECT_TRUE(tables.variable_table().only_names());
  EXPECT_EQ(tables.variable(VariableId{3}).name, "");
  EXPECT_EQ(tables.variable(VariableId{999}).name, "variable 998001");
  EXPECT_EQ(tables.variable_table(), trace.variable_table());
  std::remove(path().c_str());
}

// Names that cannot be read are an error to who loads a trace; who streams it learns of the events what there
// is.
TEST(PlainEvents, DamagedNamesAreNotMadeUp) {
  std::string bytes = write_binary_trace(named_only(300));
  const std::string frame("\x28\xb5\x2f\xfd", 4);  // how a frame of zstd begins: the second one has the names
  size_t names = bytes.find(frame, bytes.find(frame) + 1);
  ASSERT_NE(names, std::string::npos);
  bytes[names + 12] = static_cast<char>(bytes[names + 12] ^ 0x55);
  correct_checksums(bytes);
  std::ofstream(path(), std::ios::binary) << bytes;
  EXPECT_FALSE(load_trace(path()).ok());
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path());
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(source.value()->tables().variable_count(), 300u);
  EXPECT_EQ(source.value()->next().value().size(), 300u);
  EXPECT_EQ(source.value()->tables().variable(VariableId{17}).name, "?17");
  std::remove(path().c_str());
}

// Damage behind the checksum: what a hostile writer could produce.
TEST(PlainEvents, HostileBytesAreAnErrorOrATraceNeverACrash) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = write_binary_trace(generate_trace(static_cast<uint64_t>(i) % 20, {.events = 20}));
    for (uint64_t n = 1 + random.below(5); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    if (random.chance(1, 4)) bytes.resize(random.below(bytes.size()));
    if (random.chance(3, 4)) correct_checksums(bytes);
    std::ofstream(path(), std::ios::binary) << bytes;
    (void)load_trace(path());
  }
  std::remove(path().c_str());
}

}  // namespace
}  // namespace cleave
