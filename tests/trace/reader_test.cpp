#include "trace/reader.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "trace/fake_program.h"
#include "trace/load.h"
#include "trace/text.h"

namespace cleave {
namespace {

std::string saved(const FakeRecorder& recorder) {
  std::string path = testing::TempDir() + "reader_test." +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".cleave";
  recorder.save(path);
  return path;
}

Trace load(const FakeRecorder& recorder) {
  std::string path = saved(recorder);
  Result<Trace> trace = load_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().sentence());
  std::remove(path.c_str());
  return trace.ok() ? std::move(trace).value() : Trace();
}

// One line an event: thread, word, name, value.
std::vector<std::string> lines(const Trace& trace) {
  std::vector<std::string> out;
  for (const Event& event : trace.events()) {
    std::string line = trace.thread(event.thread).name + " " + std::string(word_of(event.kind));
    if (is_access(event.kind))
      line += " " + trace.variable(event.variable()).name + " " + std::to_string(event.value);
    if (event.kind == EventKind::Acquire || event.kind == EventKind::Release)
      line += " " + trace.sync(event.sync()).name;
    if (event.kind == EventKind::Fork || event.kind == EventKind::Join)
      line += " " + trace.thread(event.other()).name;
    if (event.kind == EventKind::Begin) line += " " + trace.unit_name(event.unit()).name;
    out.push_back(line);
  }
  return out;
}

TEST(Reader, RecordsOfTwoThreadsBecomeOneOrder) {
  FakeProgram program;
  FakeRecorder& r = program.recorder;
  r.start(0, UINT32_MAX);
  program.write(0, 0, 5);
  r.fork(0, 1);
  r.start(1, 0);
  r.on_object(1, RecordKind::mutex_lock, program.lock(0));
  program.read(1, 0, 5);
  program.write(1, 0, 6);
  r.on_object(1, RecordKind::mutex_unlock, program.lock(0));
  r.on_object(0, RecordKind::mutex_lock, program.lock(0));
  program.read(0, 0, 6);
  r.on_object(0, RecordKind::mutex_unlock, program.lock(0));
  r.exit(1);
  r.join(0, 1);
  r.exit(0);
  r.flush(1);
  r.flush(0);
  r.end();
  Trace trace = load(r);
  EXPECT_EQ(lines(trace), (std::vector<std::string>{
                              "main start", "main write g0 5", "main fork T1", "T1 start", "T1 acquire m0",
                              "T1 read g0 5", "T1 write g0 6", "T1 release m0", "main acquire m0",
                              "main read g0 6", "main release m0", "T1 exit", "main join T1", "main exit"}));
  EXPECT_TRUE(trace.remarks().empty());
  EXPECT_EQ(trace.thread(ThreadId{1}).path, "0.1");
  EXPECT_EQ(trace.thread(ThreadId{1}).parent, ThreadId{0});
}

}  // namespace
}  // namespace cleave
