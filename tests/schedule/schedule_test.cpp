#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "abi/chunk_checksum.h"
#include "abi/trace_file.h"
#include "base/random.h"
#include "schedule/base64.h"
#include "schedule/plan.h"
#include "schedule/witness.h"

namespace cleave {
namespace {

Schedule sample(uint64_t seed) {
  Random random(seed);
  Schedule schedule;
  schedule.threads = {"0", "0.1", "0.2", "0.1.1"};
  schedule.modules = {{"a.cpp", random.next()}, {"b.cpp", random.next()}};
  for (int run = 0; run < 50; ++run) {
    Run made{static_cast<uint32_t>(random.below(4)), static_cast<Handover>(random.below(3)),
             random.below(20)};
    schedule.runs.push_back(made);
    for (uint64_t point = 0; point < made.points; ++point) {
      schedule.fingerprints.push_back(static_cast<uint8_t>(random.next()));
      if (schedule.steps.size() < 100)
        schedule.steps.push_back({static_cast<uint16_t>(random.below(20)),
                                  static_cast<uint32_t>(random.below(2)),
                                  static_cast<uint32_t>(random.below(1000)), random.next()});
    }
  }
  schedule.pinned.push_back({2, 1, {1, 2, 3}});
  return schedule;
}

std::string bytes_of(const Schedule& schedule) {
  auto bytes = encode(schedule);
  return {bytes.begin(), bytes.end()};
}

TEST(Schedule, ComesBackFromItsBytes) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Schedule schedule = sample(seed);
    Result<Schedule> back = decode_schedule(bytes_of(schedule), "s");
    ASSERT_TRUE(back.ok()) << back.error().sentence();
    EXPECT_EQ(back.value(), schedule);
  }
}

TEST(Schedule, EveryTruncationIsAnError) {
  std::string bytes = bytes_of(sample(1));
  for (size_t size = 0; size < bytes.size(); ++size) {
    Result<Schedule> back = decode_schedule(bytes.substr(0, size), "s");
    ASSERT_FALSE(back.ok()) << size;
    EXPECT_EQ(back.error().place, "s");
  }
}

TEST(Schedule, EveryDamagedByteIsAnErrorOrTheSameSchedule) {
  Schedule schedule = sample(2);
  std::string bytes = bytes_of(schedule);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    Result<Schedule> back = decode_schedule(damaged, "s");
    if (back.ok()) EXPECT_EQ(back.value(), schedule) << at;  // the reserved word of the header
  }
}

TEST(Schedule, WhatCannotBeFollowedIsSaid) {
  Schedule schedule = sample(3);
  schedule.runs[0].thread = 9;
  EXPECT_FALSE(validate(schedule, "s").ok());
  schedule = sample(3);
  schedule.threads[1] = "1";
  EXPECT_FALSE(validate(schedule, "s").ok());
  schedule = sample(3);
  schedule.fingerprints.push_back(0);
  EXPECT_FALSE(validate(schedule, "s").ok());
  // One for every point that is kept in full, and one for eight behind those.
  schedule = sample(3);
  schedule.fingerprints.resize(schedule.steps.size() + (schedule.points() - schedule.steps.size()) / 8);
  EXPECT_TRUE(validate(schedule, "s").ok());
  schedule.fingerprints.pop_back();
  EXPECT_FALSE(validate(schedule, "s").ok());
}

TEST(ThreadPath, IsNumbersFromOneBelowZero) {
  for (const char* good : {"0", "0.1", "0.12.3"}) EXPECT_TRUE(is_thread_path(good)) << good;
  for (const char* bad : {"", "1", "0.", "0.0", "00", "0..1", "0.1x", "0.1."})
    EXPECT_FALSE(is_thread_path(bad)) << bad;
}

TEST(Base64, ComesBackAndKnowsItsOwn) {
  Random random(7);
  for (size_t size = 0; size < 100; ++size) {
    std::vector<uint8_t> bytes(size);
    for (auto& byte : bytes) byte = static_cast<uint8_t>(random.next());
    std::string back;
    ASSERT_TRUE(from_base64(to_base64(bytes), &back));
    EXPECT_EQ(std::vector<uint8_t>(back.begin(), back.end()), bytes);
  }
  std::string back;
  EXPECT_FALSE(from_base64("abc", &back));
  EXPECT_FALSE(from_base64("ab=c", &back));
}

TEST(Witness, ComesBackFromJsonAndSaysWhatIsWrong) {
  Witness witness;
  witness.program = {"./bank", "--threads", "2"};
  witness.directory = "/tmp";
  witness.inputs["amount"] = std::string("1\0\xff", 3);
  witness.schedule = sample(4);
  witness.milestones.milestones.push_back(
      {"0.1", EventKind::Write, "bank.cpp", 12, 3, "withdraw", 2, 7, "first"});
  std::string text = to_json(witness);
  Result<Witness> back = witness_from_json(text, "w.json");
  ASSERT_TRUE(back.ok()) << back.error().sentence();
  EXPECT_EQ(back.value(), witness);
  for (size_t size = 0; size + 3 < text.size(); size += 7)
    EXPECT_FALSE(witness_from_json(text.substr(0, size), "w.json").ok()) << size;
  EXPECT_FALSE(witness_from_json("{}", "w.json").ok());
}

TEST(Witness, AnUnknownOperationIsAnErrorNotACrash) {
  Witness witness;
  witness.program = {"./bank"};
  witness.schedule = sample(4);
  witness.milestones.milestones.push_back(
      {"0.1", EventKind::Write, "bank.cpp", 12, 3, "withdraw", 2, 7, "first"});
  std::string text = to_json(witness);
  text.replace(text.find("\"write\""), 7, "\"paint\"");
  Result<Witness> back = witness_from_json(text, "w.json");
  ASSERT_FALSE(back.ok());
  EXPECT_NE(back.error().sentence().find("\"paint\""), std::string::npos) << back.error().sentence();
}

// A trace with one chunk of text about its process, and a schedule if `scheduled`.
std::string trace_of_process(const std::string& text, bool scheduled) {
  cleave_file_header header{};
  header.version = CLEAVE_TRACE_VERSION;
  header.magic = CLEAVE_TRACE_MAGIC;
  header.header_bytes = sizeof header;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  auto put = [&bytes](uint32_t kind, std::string_view body) {
    cleave_chunk_header chunk{};
    chunk.magic = CLEAVE_CHUNK_MAGIC;
    chunk.kind = kind;
    chunk.stored_bytes = static_cast<uint32_t>(body.size());
    chunk.checksum = cleave_chunk_checksum(&chunk, body.data());
    bytes.append(reinterpret_cast<const char*>(&chunk), sizeof chunk);
    bytes += body;
  };
  put(CLEAVE_CHUNK_PROCESS, text);
  if (scheduled) {
    std::vector<uint8_t> schedule = encode(sample(4));
    put(CLEAVE_CHUNK_SCHEDULE, {reinterpret_cast<const char*>(schedule.data()), schedule.size()});
  }
  return bytes;
}

TEST(Witness, ATraceIsOneIfItHasAScheduleWhateverElseIsDamaged) {
  const std::string path = testing::TempDir() + "witness_trace_test.cleave";
  auto read = [&path](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return read_witness(path);
  };
  const std::string good = R"({"program": "/bin/bank", "arguments": ["./bank", "7"], "directory": "/tmp"})";
  Result<Witness> witness = read(trace_of_process(good, true));
  ASSERT_TRUE(witness.ok()) << witness.error().sentence();
  EXPECT_EQ(witness.value().program, (std::vector<std::string>{"./bank", "7"}));
  EXPECT_EQ(witness.value().directory, "/tmp");
  EXPECT_FALSE(read(trace_of_process(good, false)).ok());
  EXPECT_FALSE(read(trace_of_process("{", true)).ok()) << "it names no program";
  EXPECT_FALSE(read(trace_of_process(R"({"program": 7, "arguments": [1]})", true)).ok());
  Result<Witness> half =
      read(trace_of_process(R"({"program": "/bin/bank", "arguments": {}, "directory": []})", true));
  ASSERT_TRUE(half.ok()) << half.error().sentence();
  EXPECT_EQ(half.value().program, std::vector<std::string>{"/bin/bank"});
  std::string whole = trace_of_process(good, true);
  for (size_t size = 0; size < whole.size(); size += 41)
    EXPECT_FALSE(read(whole.substr(0, size)).ok()) << size;
  std::remove(path.c_str());
}

TEST(Plan, CountsVisitsOfASiteNotEvents) {
  TraceBuilder builder;
  ThreadId thread = builder.add_thread({"T1", kNone<ThreadId>, "0.1"});
  SiteId site = builder.add_site({"a.cpp", 5, 3, "f", "x", "int"});
  auto read = [&](const char* variable, uint16_t branches) {
    Event event{EventKind::Read, 0, branches, thread, site};
    event.object = raw(builder.variable(variable));
    return builder.add(event);
  };
  read("low", 0), read("high", 0);  // a wide access: one visit
  read("low", 1);                   // after a branch: the second
  EventIndex third = read("low", 0);
  Trace trace = std::move(builder).build();
  Result<Plan> plan = plan_of(trace, {third});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().milestones.size(), 1u);
  EXPECT_EQ(plan.value().milestones[0].occurrence, 3u);
  EXPECT_EQ(plan.value().milestones[0].thread, "0.1");
}

TEST(Plan, CodeWithoutALineIsNamedByItsFunction) {
  Plan plan;
  plan.milestones.push_back({"0.1", EventKind::Write, "a.cpp", 0, 0, "f", 1, std::nullopt, ""});
  EXPECT_TRUE(validate(plan).ok());
  plan.milestones.back().function.clear();
  EXPECT_FALSE(validate(plan).ok());
  plan.milestones.back().line = 5;
  EXPECT_TRUE(validate(plan).ok());
  plan.milestones.back().file.clear();
  EXPECT_FALSE(validate(plan).ok());
}

TEST(Plan, AsksForNothingThatLiesBehind) {
  Plan plan;
  plan.milestones.push_back({"0.1", EventKind::Read, "a.cpp", 5, 0, "", 2, std::nullopt, ""});
  EXPECT_TRUE(validate(plan).ok());
  plan.milestones.push_back({"0.1", EventKind::Read, "a.cpp", 5, 0, "", 1, std::nullopt, ""});
  EXPECT_FALSE(validate(plan).ok());
}

TEST(Plan, APlaceIsALineOrWhatTheOptimiserJoinedInAFunction) {
  Milestone milestone{.thread = "0.1", .kind = EventKind::Read, .file = "a.cpp", .line = 0, .function = "f"};
  EXPECT_TRUE(validate(Plan{{milestone}}).ok());
  milestone.function.clear();
  EXPECT_FALSE(validate(Plan{{milestone}}).ok());
  milestone.line = 3;
  EXPECT_TRUE(validate(Plan{{milestone}}).ok());
  milestone.file.clear();
  EXPECT_FALSE(validate(Plan{{milestone}}).ok());
}

}  // namespace
}  // namespace cleave
