// How fast the reader delivers events: a made-up recorded program (two threads, loops over arrays, a lock now
// and then), streamed; and RAPID's text. Prints one line each, for scripts/bench. Goal: 20 million events a
// second on one core.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "abi/chunk_checksum.h"
#include "abi/codec.h"
#include "abi/order.h"
#include "abi/trace_file.h"
#include "tables/site_tables.h"
#include "trace/core/load.h"
#include "trace/recorded/records.h"

namespace {

using namespace cleave;

constexpr uint64_t kSegments = 0x400000, kArray = 0x100000, kLock = 0x50000;

// A loop body `a[i] += b[i]; sum += …` as one segment of four accesses, and a locked update of a shared
// counter.
SiteTables tables() {
  SiteTables t;
  t.source = "bench.cpp";
  t.strings = {"bench.cpp", "long"};
  t.functions = {{.name = "work", .linkage = "work", .file = 0, .line = 1}};
  for (uint32_t line = 1; line <= 8; ++line)
    t.sites.push_back({.file = 0, .line = line, .column = 1, .function = 0, .type = 1});
  t.globals = {
      {.name = "a", .size = 1 << 20, .flags = GlobalEntry::kZeroInitialised, .type_name = "long[131072]"},
      {.name = "lock", .size = 40, .flags = GlobalEntry::kZeroInitialised, .type_name = "pthread_mutex_t"}};
  auto word = [](uint32_t index) { return Operand{Source::Word, index, 0}; };
  auto slot = [&](SlotKind kind, Operand address, Operand value, uint32_t site) {
    return Slot{.kind = kind, .width = 8, .address = address, .value = value, .site = site};
  };
  t.segments.push_back({.words = 5,
                        .flags = 1,
                        .function = 0,
                        .slots = {slot(SlotKind::Read, word(0), word(1), 0),
                                  slot(SlotKind::Read, {Source::Derived, 0, 8}, word(2), 1),
                                  slot(SlotKind::Write, {Source::Derived, 0, 0}, word(3), 2),
                                  slot(SlotKind::Read, {Source::Derived, 0, 16}, word(4), 3)}});
  t.segments.push_back({.words = 2,
                        .flags = 1,
                        .function = 0,
                        .slots = {slot(SlotKind::Read, {Source::Global, 0, 0}, word(0), 4),
                                  slot(SlotKind::Write, {Source::Global, 0, 0}, word(1), 5)}});
  t.segments.push_back(
      {.words = 0, .flags = 2, .function = 0, .slots = {{.kind = SlotKind::Call, .site = 6}}});
  return t;
}

class Recorder {
 public:
  explicit Recorder(const std::string& path) : out_(path, std::ios::binary), pending_(2), sequence_(2, 0) {
    cleave_file_header header{CLEAVE_TRACE_MAGIC, CLEAVE_TRACE_VERSION, sizeof header, 1, 1};
    out_.write(reinterpret_cast<const char*>(&header), sizeof header);
    SiteTables t = tables();
    std::vector<uint8_t> coded = encode(t);
    cleave_module_chunk module{kSegments, t.segments.size(), 1, static_cast<uint32_t>(t.source.size()),
                               2,         coded.size()};
    std::string body(reinterpret_cast<const char*>(&module), sizeof module);
    body += t.source;
    for (const SegmentTable& segment : t.segments) {
      cleave_segment raw{segment.words, segment.flags};
      body.append(reinterpret_cast<const char*>(&raw), sizeof raw);
    }
    uint64_t globals[] = {kArray, kLock};
    body.append(reinterpret_cast<const char*>(globals), sizeof globals);
    body.append(reinterpret_cast<const char*>(coded.data()), coded.size());
    chunk({.kind = CLEAVE_CHUNK_MODULE}, body);
  }
  void put(uint32_t thread, std::initializer_list<uint64_t> words) {
    pending_[thread].insert(pending_[thread].end(), words);
    lengths_[thread].push_back(static_cast<uint32_t>(words.size()));
    if (pending_[thread].size() > 16384) flush(thread);
  }
  void flush(uint32_t thread) {
    std::vector<uint64_t>& words = pending_[thread];
    std::vector<uint8_t> coded(cleave_codec_bound(words.size()));
    cleave_codec_clear(&codec_);
    cleave_codec_begin_body(&codec_, coded.data(), coded.size());
    size_t at = 0;
    for (uint32_t length : lengths_[thread]) {
      cleave_codec_put_record(&codec_, &words[at], length - 1);
      at += length;
    }
    cleave_chunk_header header{
        .kind = CLEAVE_CHUNK_RECORDS, .thread = thread, .sequence = sequence_[thread]++};
    header.words = static_cast<uint32_t>(words.size());
    header.records = static_cast<uint32_t>(lengths_[thread].size());
    chunk(header, {reinterpret_cast<const char*>(coded.data()), cleave_codec_end_body(&codec_)});
    words.clear();
    lengths_[thread].clear();
  }
  void end() { chunk({.kind = CLEAVE_CHUNK_END}, "{}"); }

 private:
  void chunk(cleave_chunk_header header, std::string_view body) {
    header.magic = CLEAVE_CHUNK_MAGIC;
    header.stored_bytes = static_cast<uint32_t>(body.size());
    header.checksum = cleave_chunk_checksum(&header, body.data());
    out_.write(reinterpret_cast<const char*>(&header), sizeof header);
    out_.write(body.data(), static_cast<std::streamsize>(body.size()));
  }
  std::ofstream out_;
  std::vector<std::vector<uint64_t>> pending_;
  std::vector<uint32_t> lengths_[2];
  std::vector<uint64_t> sequence_;
  cleave_codec codec_;
};

constexpr uint64_t header_of(uint64_t address) { return address | uint64_t{1} << 48; }
constexpr uint64_t record(RecordKind kind) { return header_of(static_cast<uint64_t>(kind)); }

void write_recorded(const std::string& path, uint64_t rounds) {
  Recorder r(path);
  uint64_t now = 1000, ticket = 0, counter = 0;
  uint64_t stripe = uint64_t{cleave_stripe_of(reinterpret_cast<const void*>(kLock))} << 48;
  std::vector<uint64_t> memory(1 << 17, 0);
  r.put(0, {record(RecordKind::thread_start), 0, UINT32_MAX, now += 10});
  r.put(0, {record(RecordKind::fork), 1, now += 10});
  r.put(1, {record(RecordKind::thread_start), 1, 0, now += 10});
  for (uint64_t i = 0; i < rounds; ++i) {
    auto t = static_cast<uint32_t>(i & 1);
    for (uint64_t k = 0; k < 60; ++k) {
      uint64_t at = t * 40000 + (i * 30 + k) % 30000 + 8;  // each thread has its part of the array
      uint64_t sum = memory[at] + i;
      r.put(t, {header_of(kSegments), kArray + 8 * at, memory[at], memory[at + 1], sum, memory[at + 2]});
      memory[at] = sum;
    }
    r.put(t, {header_of(kSegments + 8)});
    r.put(t, {record(RecordKind::mutex_lock), kLock, stripe | ticket++, now += 50});
    r.put(t, {header_of(kSegments + 4), counter, counter + 1});
    ++counter;
    r.put(t, {record(RecordKind::mutex_unlock), kLock, stripe | ticket++, now += 50});
  }
  for (uint32_t t = 0; t < 2; ++t) {
    r.put(t, {record(RecordKind::thread_exit), now += 10});
    r.flush(t);
  }
  r.end();
}

void write_rapid(const std::string& path, uint64_t lines) {
  std::ofstream out(path, std::ios::binary);
  std::string text;
  for (uint64_t i = 0; i < lines; ++i) {
    fmt::format_to(std::back_inserter(text), "T{}|{}(V{}.{})|{}\n", i % 4, i % 3 == 0 ? "w" : "r", i % 977,
                   i % 5, i % 311);
    if (text.size() > (1 << 16)) out << text, text.clear();
  }
  out << text;
}

struct Measured {
  uint64_t events = 0, bytes = 0;
  double seconds = 1e9;
};

// Of this process: one core's time, whatever else the machine does.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Measured measure(const std::string& path) {
  Measured best;
  best.bytes = static_cast<uint64_t>(std::ifstream(path, std::ios::binary | std::ios::ate).tellg());
  for (int round = 0; round < 3;
       ++round) {  // the best of three: what the machine's other work does not disturb
    double begin = cpu_seconds();
    auto source = open_trace(path);
    if (!source) fmt::print(stderr, "{}\n", source.error().sentence()), std::exit(1);
    uint64_t events = 0;
    for (;;) {
      auto batch = source.value()->next();
      if (!batch) fmt::print(stderr, "{}\n", batch.error().sentence()), std::exit(1);
      if (batch.value().empty()) break;
      events += batch.value().size();
    }
    best.seconds = std::min(best.seconds, cpu_seconds() - begin);
    best.events = events;
  }
  return best;
}

void report(const char* what, const Measured& m) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<28}{:>12} events  {:>7.1f} M events/s  {:>7.1f} MB/s  {:>6.2f} bytes/event  {:>5} MB peak\n",
             what, m.events, static_cast<double>(m.events) / m.seconds / 1e6,
             static_cast<double>(m.bytes) / m.seconds / 1e6,
             static_cast<double>(m.bytes) / static_cast<double>(m.events), usage.ru_maxrss / 1024);
}

}  // namespace

// reader_bench [TRACE…]: with traces, measures those instead.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) report(argv[i], measure(argv[i]));
  if (argc > 1) return 0;
  std::string path = fmt::format("/tmp/cleave_reader_bench.{}", getpid());
  write_recorded(path, 80000);
  report("reader: recorded, 2 threads", measure(path));
  write_rapid(path, 5000000);
  report("reader: RAPID text", measure(path));
  std::remove(path.c_str());
}
