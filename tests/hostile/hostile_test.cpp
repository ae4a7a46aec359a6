// Traces that somebody else made, through every stage of `cleave predict`: whatever is in them, no stage
// crashes, loops or takes memory for what is not there. Mutants of real traces, with their checksums made
// right again so that the damage gets past the door: bytes of any chunk, lengths in headers, and records word
// by word.
#include <gtest/gtest.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "analysis/predict/findings.h"
#include "analysis/predict/predict.h"
#include "base/apart.h"
#include "base/random.h"
#include "confirm/observed.h"
#include "confirm/program_line.h"
#include "exec/tables.h"
#include "feasibility/stage/symbolic_stage.h"
#include "schedule/witness.h"
#include "trace/damage.h"
#include "trace/recorded/reader.h"
#include "trace/recorded/records.h"
#include "trace/text/text.h"
#include "units/sets.h"
#include "units/units.h"

namespace cleave {
namespace {

// CLEAVE_HOSTILE_ROUNDS for a soak; a few by default.
size_t rounds() {
  const char* more = std::getenv("CLEAVE_HOSTILE_ROUNDS");
  return more != nullptr ? std::strtoul(more, nullptr, 10) : 60;
}

struct Chunk {
  cleave_chunk_header header;
  std::string body;
};

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Hostile : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = testing::TempDir() + "cleave_hostile." + std::to_string(getpid()) + "/";
    std::filesystem::create_directories(folder_);
    const std::string tools = CLEAVE_BINARY_DIR "/bin/", quiet = " > /dev/null 2>&1";
    const std::string build =
        tools + "cleave-c++ -O1 -g -std=c++20 -pthread " CLEAVE_SOURCE_DIR "/examples/bank.cpp -o " +
        folder_ + "bank" + quiet;
    const std::string record =
        "cd " + folder_ + " && " + tools + "cleave record --schedule serial -o bank.cleave -- ./bank" + quiet;
    ASSERT_EQ(std::system(build.c_str()), 0);
    ASSERT_EQ(std::system(record.c_str()), 0);
    whole_ = contents(folder_ + "bank.cleave");
    for (size_t at = sizeof(cleave_file_header); at + sizeof(cleave_chunk_header) <= whole_.size();) {
      Chunk& chunk = chunks_.emplace_back();
      std::memcpy(&chunk.header, whole_.data() + at, sizeof chunk.header);
      chunk.body = whole_.substr(at + sizeof chunk.header, chunk.header.stored_bytes);
      at += sizeof chunk.header + chunk.header.stored_bytes;
    }
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string joined(const std::vector<Chunk>& chunks) {
    std::string bytes = whole_.substr(0, sizeof(cleave_file_header));
    for (const Chunk& chunk : chunks) {
      bytes.append(reinterpret_cast<const char*>(&chunk.header), sizeof chunk.header);
      bytes += chunk.body;
    }
    correct_checksums(bytes);
    return bytes;
  }

  // The same records as words, without the coding.
  static std::vector<Chunk> raw_chunks() {
    Result<TraceFile> file = TraceFile::open(folder_ + "bank.cleave");
    EXPECT_TRUE(file);
    std::vector<Chunk> raw;
    for (const Chunk& chunk : chunks_) {
      raw.push_back(chunk);
      if (chunk.header.kind != CLEAVE_CHUNK_RECORDS) continue;
      for (const ThreadChunks& thread : file.value().threads()) {
        if (thread.number != chunk.header.thread) continue;
        DecodedChunk decoded;
        EXPECT_EQ(decoded.decode(file.value(), thread.chunks, chunk.header.sequence), nullptr);
        cleave_chunk_header& header = raw.back().header;
        header.flags = CLEAVE_CHUNK_RAW;
        header.words = static_cast<uint32_t>(decoded.words().size());
        header.records = 0;
        header.stored_bytes = header.words * 8;
        raw.back().body.assign(reinterpret_cast<const char*>(decoded.words().data()), header.stored_bytes);
      }
    }
    return raw;
  }

  // Every stage; what they say of a mutant does not matter. How many candidates the last one decided.
  static size_t all_stages(const std::string& path) {
    (void)exec::ProgramTables::read(path);
    (void)read_witness(path);
    (void)confirm::program_of_trace(path);
    Result<RecordedTrace> loaded = load_recorded_trace(path);
    if (!loaded) return 0;
    const Trace& trace = loaded.value().trace;
    SetMap sets({}, trace);
    UnitMap units = map_units(trace, {}, sets);
    prediction::TraceIndex facts(trace, units);
    prediction::Prediction prediction = predict(facts, {.check_budget = 1'000'000});
    feasibility::SymbolicStageOptions options;
    options.seconds = 2;
    options.program = folder_ + "bank";
    options.equal_values = true;
    (void)feasibility::decide_symbolically(loaded.value(), options, &prediction);
    Findings findings = to_findings(facts, prediction, sets, true);
    std::vector<const prediction::Candidate*> candidates;
    for (const prediction::Candidate& candidate : prediction.candidates) candidates.push_back(&candidate);
    confirm::ProveOptions proving;
    proving.order_is_real = true;
    (void)confirm::judge_observed(facts, candidates, findings.findings, proving);
    return static_cast<size_t>(std::count_if(candidates.begin(), candidates.end(), [](const auto* candidate) {
      return candidate->symbolic == "sat" || candidate->symbolic == "unsat";
    }));
  }

  // The end of a child in which all stages see these bytes; empty if it is a good one.
  static std::string problem(const std::string& bytes, std::string* decided = nullptr) {
    const std::string path = folder_ + "mutant.cleave";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    Result<ApartEnd> end = run_apart([&](const Send& send) { send(std::to_string(all_stages(path))); },
                                     [&](std::string_view message) {
                                       if (decided != nullptr) *decided = message;
                                     },
                                     {.memory = uint64_t{3} << 30, .time_limit = std::chrono::seconds(120)});
    if (!end) return end.error().sentence();
    return end.value().how == ApartEnd::How::Finished ? "" : end.value().sentence();
  }

  void expect_survived(const std::string& bytes, const std::string& what) {
    const std::string how = problem(bytes);
    if (how.empty()) return;
    const std::string kept = testing::TempDir() + "cleave_hostile_" + std::to_string(++failures_) + ".cleave";
    std::ofstream(kept, std::ios::binary | std::ios::trunc) << bytes;
    ADD_FAILURE() << what << ": " << how << "; kept as " << kept;
  }

  static std::string folder_, whole_;
  static std::vector<Chunk> chunks_;
  int failures_ = 0;
};

std::string Hostile::folder_, Hostile::whole_;
std::vector<Chunk> Hostile::chunks_;

// Words that decoders trip over: signs, ends of ranges, lengths.
uint64_t odd_word(Random& random, uint64_t old) {
  switch (random.below(8)) {
    case 0:
      return 0;
    case 1:
      return UINT64_MAX;
    case 2:
      return uint64_t{1} << random.below(64);
    case 3:
      return old + 1;
    case 4:
      return old - 1;
    case 5:
      return old ^ uint64_t { 1 } << random.below(64);
    case 6:
      return UINT32_MAX;
    default:
      return random.next();
  }
}

TEST_F(Hostile, TheOriginalsPassAndReachTheSolver) {
  for (const std::string& bytes : {whole_, joined(raw_chunks())}) {
    std::string decided;
    EXPECT_EQ(problem(bytes, &decided), "");
    EXPECT_EQ(decided, "1");
  }
}

TEST_F(Hostile, BytesOfAnyChunk) {
  for (size_t round = 0; round < rounds(); ++round) {
    Random random(round);
    std::vector<Chunk> chunks = chunks_;
    for (uint64_t changes = 1 + random.below(4); changes > 0; --changes) {
      std::string& body = chunks[random.below(chunks.size())].body;
      if (!body.empty()) body[random.below(body.size())] = static_cast<char>(random.below(256));
    }
    expect_survived(joined(chunks), "bytes, round " + std::to_string(round));
  }
}

TEST_F(Hostile, HeadersAndLengths) {
  for (size_t round = 0; round < rounds(); ++round) {
    Random random(round);
    std::vector<Chunk> chunks = chunks_;
    Chunk& chunk = chunks[random.below(chunks.size())];
    uint32_t* fields[] = {&chunk.header.thread, &chunk.header.words, &chunk.header.records};
    if (chunk.header.kind == CLEAVE_CHUNK_MODULE && random.chance(2, 3)) {
      const uint64_t at = 8 * random.below(sizeof(cleave_module_chunk) / 8);
      uint64_t word = 0;
      std::memcpy(&word, chunk.body.data() + at, sizeof word);
      word = odd_word(random, word);
      std::memcpy(chunk.body.data() + at, &word, sizeof word);
    } else if (random.chance(1, 4)) {
      chunk.header.stored_bytes = static_cast<uint32_t>(odd_word(random, chunk.header.stored_bytes));
    } else if (random.chance(1, 4)) {
      chunk.header.kind = static_cast<uint16_t>(random.below(10));
    } else {
      uint32_t& field = *fields[random.below(3)];
      field = static_cast<uint32_t>(odd_word(random, field));
    }
    expect_survived(joined(chunks), "headers, round " + std::to_string(round));
  }
}

TEST_F(Hostile, RecordsWordByWord) {
  const std::vector<Chunk> raw = raw_chunks();
  expect_survived(joined(raw), "raw");
  for (size_t round = 0; round < 2 * rounds(); ++round) {
    Random random(round);
    std::vector<Chunk> chunks = raw;
    std::vector<size_t> records;
    for (size_t c = 0; c < chunks.size(); ++c)
      if (chunks[c].header.kind == CLEAVE_CHUNK_RECORDS && !chunks[c].body.empty()) records.push_back(c);
    ASSERT_FALSE(records.empty());
    std::string& body = chunks[records[random.below(records.size())]].body;
    for (uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const size_t at = 8 * random.below(body.size() / 8), from = 8 * random.below(body.size() / 8);
      uint64_t word = 0;
      std::memcpy(&word, body.data() + (random.chance(1, 3) ? from : at), sizeof word);
      if (random.chance(2, 3)) word = odd_word(random, word);
      std::memcpy(body.data() + at, &word, sizeof word);
    }
    expect_survived(joined(chunks), "words, round " + std::to_string(round));
  }
}

}  // namespace
}  // namespace cleave
