#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/random.h"
#include "trace/fake_program.h"
#include "trace/recorded/reader.h"

namespace cleave {
namespace {

// Two threads that write values that no codec makes small, in many chunks, with a chunk of another kind
// between them.
void save_long_trace(const std::string& path, bool raw) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.raw = raw;
  Random random(7);
  r.other_chunk(CLEAVE_CHUNK_PROCESS, R"({"program": "long", "arguments": ["long"]})");
  r.start(0, UINT32_MAX);
  r.segment(0, FakeProgram::kCall, {});
  r.fork(0, 1);
  r.start(1, 0);
  constexpr uint32_t kWrites = 1'200'000, kInChunk = 8'000;
  for (uint32_t i = 1; i <= kWrites; ++i) {
    program.write(i & 1, i % FakeProgram::kGlobals, random.next());
    if (i % kInChunk == 0) r.on_object(i / kInChunk & 1, RecordKind::mutex_lock, program.lock(0));
    if (i % kInChunk == 0) r.on_object(i / kInChunk & 1, RecordKind::mutex_unlock, program.lock(0));
    if (i % kInChunk == 0) r.flush_all();
    if (i == kWrites / 2) r.other_chunk(CLEAVE_CHUNK_SCHEDULE, "kept");
  }
  for (uint32_t t : {1u, 0u}) r.exit(t);
  r.flush_all();
  r.end();
  r.save(path);
}

struct Read {
  uint64_t events = 0, sum = 0;
  friend bool operator==(const Read&, const Read&) = default;
};
Read read_all(BinarySource& source) {
  Read all;
  for (;;) {
    auto batch = source.next();
    EXPECT_TRUE(batch.ok());
    if (batch.value().empty()) return all;
    for (const Event& event : batch.value()) {
      ++all.events;
      all.sum = (all.sum ^ event.value) * 0x9e3779b97f4a7c15ull + event.object;
    }
  }
}

uint64_t bytes_on_disk(const std::string& path) {
  struct stat facts{};
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
  return static_cast<uint64_t>(facts.st_blocks) * 512;
}

bool holes_can_be_made(const std::string& path) {
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(ftruncate(file, 1 << 16), 0);
  bool made = fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 1 << 15) == 0;
  close(file);
  return made;
}

class Erase : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Chunks, Erase, testing::Bool(), [](const testing::TestParamInfo<bool>& form) {
  return form.param ? "Raw" : "Coded";
});

TEST_P(Erase, WhatHasBeenReadLeavesTheDiskAndNothingElseChanges) {
  std::string path = testing::TempDir() + (GetParam() ? "erase_test_raw.cleave" : "erase_test.cleave");
  const bool holes = holes_can_be_made(path);
  save_long_trace(path, GetParam());
  const uint64_t size = std::filesystem::file_size(path), before = bytes_on_disk(path);
  ASSERT_GT(size, uint64_t{8} << 20);
  auto expected = open_binary_trace(path);
  ASSERT_TRUE(expected.ok());
  const Read all = read_all(*expected.value());
  EXPECT_EQ(bytes_on_disk(path), before) << "nobody asked for it";

  ReadOptions options;
  options.erase_beyond = 1;
  auto erasing = open_binary_trace(path, options);
  ASSERT_TRUE(erasing.ok());
  EXPECT_EQ(read_all(*erasing.value()), all);
  EXPECT_GT(all.events, 1'200'000u);
  EXPECT_TRUE(erasing.value()->complete());
  EXPECT_EQ(std::filesystem::file_size(path), size);
  // A file system that makes no holes keeps everything, and nobody is the worse for it.
  if (holes)
    EXPECT_LT(bytes_on_disk(path), before / 2);
  else
    EXPECT_EQ(bytes_on_disk(path), before);
  EXPECT_EQ(erasing.value()->file().text(CLEAVE_CHUNK_SCHEDULE), "kept");
  EXPECT_EQ(erasing.value()->tables().program(), "long");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace cleave
