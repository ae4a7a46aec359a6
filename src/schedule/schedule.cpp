#include "schedule/schedule.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <array>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <utility>

namespace cleave {
namespace {

constexpr std::array<std::pair<std::string_view, Policy>, 12> kPolicies{{{"free", Policy::Free},
                                                                         {"serial", Policy::Serial},
                                                                         {"random", Policy::Random},
                                                                         {"pct", Policy::Pct},
                                                                         {"noise", Policy::Noise},
                                                                         {"plan", Policy::Plan},
                                                                         {"replay", Policy::Replay},
                                                                         {"switches", Policy::Switches},
                                                                         {"pos", Policy::Pos},
                                                                         {"rf", Policy::Rf},
                                                                         {"reverse", Policy::Reverse},
                                                                         {"first", Policy::First}}};

// File form: magic, version, bytes when unpacked, XXH3 of the packed bytes, then zstd of the fields below.
constexpr char kMagic[8] = {'\1', 'C', 'L', 'V', 'S', 'C', 'H', 'D'};
constexpr uint32_t kVersion = 2;
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved;
  uint64_t unpacked;
  uint64_t packed;
  uint64_t checksum;
};
static_assert(sizeof(Header) == 40);

// One archive for both directions: Writer and Reader offer the same calls, so they cannot disagree.
class Writer {
 public:
  explicit Writer(size_t expected) { bytes_.reserve(expected); }
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  void raw(const std::vector<uint8_t>& value) {
    count(value);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(const std::string& value) {
    count(value);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  template <typename Container>
  void count(const Container& container) {
    number(container.size());
  }
  bool failed() const { return false; }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  void number(uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) return fail();
      auto byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return;
    }
    fail();
  }
  void raw(std::vector<uint8_t>& value) {
    std::string text_value;
    text(text_value);
    value.assign(text_value.begin(), text_value.end());
  }
  void text(std::string& value) {
    uint64_t size = 0;
    number(size);
    if (failed_ || size > bytes_.size() - at_) return fail();
    value = bytes_.substr(at_, size);
    at_ += size;
  }
  template <typename Container>
  void count(Container& container) {
    uint64_t size = 0;
    number(size);
    // Every element takes at least one byte, so a larger count is not one that encode wrote.
    if (failed_ || size > bytes_.size() - at_) return fail();
    container.resize(size);
  }
  bool failed() const { return failed_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  void fail() { failed_ = true; }
  std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

template <typename Archive, typename Field>
void small(Archive& archive, Field& field) {
  auto wide = static_cast<uint64_t>(field);
  archive.number(wide);
  if constexpr (!std::is_const_v<Field>) field = static_cast<Field>(wide);
}

// Of a Schedule that is read, or a const one that is written.
template <typename Archive, typename Value>
void fields(Archive& archive, Value& schedule) {
  small(archive, schedule.stopped);
  archive.count(schedule.threads);
  for (auto& thread : schedule.threads) archive.text(thread);
  archive.count(schedule.modules);
  for (auto& module : schedule.modules) {
    archive.text(module.name);
    archive.number(module.identity);
  }
  archive.count(schedule.runs);
  for (auto& run : schedule.runs) {
    if (archive.failed()) return;
    uint64_t points = run.points << 2 | static_cast<uint64_t>(run.how);
    small(archive, run.thread);
    archive.number(points);
    if constexpr (!std::is_const_v<Value>) {
      run.points = points >> 2;
      run.how = static_cast<Handover>(points & 3);
    }
  }
  archive.raw(schedule.fingerprints);
  archive.count(schedule.steps);
  for (auto& step : schedule.steps) {
    if (archive.failed()) return;
    small(archive, step.operation);
    small(archive, step.module);
    small(archive, step.segment);
    archive.number(step.value);
  }
  archive.count(schedule.pinned);
  for (auto& pinned : schedule.pinned) {
    if (archive.failed()) return;
    small(archive, pinned.thread);
    small(archive, pinned.source);
    archive.raw(pinned.bytes);
  }
}

}  // namespace

std::vector<std::string> schedule_words() {
  std::vector<std::string> words;
  for (const auto& [word, policy] : kPolicies)
    if (policy != Policy::Plan && policy != Policy::Replay && policy != Policy::Switches)
      words.emplace_back(word);
  return words;
}

std::string_view word_of(Policy policy) {
  for (const auto& [word, value] : kPolicies)
    if (value == policy) return word;
  return "unknown";
}

bool parse(std::string_view word, Policy* policy) {
  for (const auto& [known, value] : kPolicies)
    if (known == word) {
      *policy = value;
      return true;
    }
  return false;
}

std::vector<Switch> switches_of(const Schedule& schedule) {
  std::vector<uint64_t> points(schedule.threads.size());
  std::vector<Switch> switches;
  for (size_t i = 0; i + 1 < schedule.runs.size(); ++i) {
    const Run& run = schedule.runs[i];
    points[run.thread] += run.points;
    Handover how = run.how == Handover::Preempted ? Handover::Preempted : Handover::GaveAway;
    switches.push_back({schedule.threads[run.thread], points[run.thread], how,
                        schedule.threads[schedule.runs[i + 1].thread]});
  }
  return switches;
}

uint64_t Schedule::points() const {
  return std::accumulate(runs.begin(), runs.end(), uint64_t{0},
                         [](uint64_t sum, const Run& run) { return sum + run.points; });
}

std::vector<uint8_t> encode(const Schedule& schedule) {
  Writer writer(schedule.fingerprints.size() + 4 * schedule.runs.size() + 12 * schedule.steps.size() + 4096);
  fields(writer, schedule);
  std::vector<uint8_t> out(sizeof(Header) + ZSTD_compressBound(writer.bytes().size()));
  size_t packed = ZSTD_compress(out.data() + sizeof(Header), out.size() - sizeof(Header),
                                writer.bytes().data(), writer.bytes().size(), 3);
  CLEAVE_CHECK(!ZSTD_isError(packed), "zstd could not compress a schedule");
  out.resize(sizeof(Header) + packed);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.unpacked = writer.bytes().size();
  header.packed = packed;
  header.checksum = XXH3_64bits(out.data() + sizeof(Header), packed);
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

Result<Schedule> decode_schedule(std::string_view bytes, const std::string& place) {
  Header header;
  if (bytes.size() < sizeof header) return Error{place, "not a schedule: too short"};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0)
    return Error{place, "not a schedule: wrong first bytes"};
  if (header.version != kVersion)
    return Error{
        place, fmt::format("schedule of version {}, this Cleave reads version {}", header.version, kVersion)};
  std::string_view body = bytes.substr(sizeof header);
  if (body.size() < header.packed)
    return Error{place, fmt::format("truncated schedule: {} of {} bytes", body.size(), header.packed)};
  body = body.substr(0, header.packed);
  if (XXH3_64bits(body.data(), body.size()) != header.checksum)
    return Error{place, "damaged schedule: the checksum is wrong"};
  if (header.unpacked > (uint64_t{1} << 36) ||
      ZSTD_getFrameContentSize(body.data(), body.size()) != header.unpacked)
    return Error{place, "damaged schedule: the size is wrong"};
  std::string unpacked(header.unpacked, '\0');
  size_t size = ZSTD_decompress(unpacked.data(), unpacked.size(), body.data(), body.size());
  if (ZSTD_isError(size) || size != unpacked.size())
    return Error{place, "damaged schedule: it does not decompress"};
  Reader reader(unpacked);
  Schedule schedule;
  fields(reader, schedule);
  if (reader.failed() || !reader.at_end()) return Error{place, "damaged schedule: its fields do not fit"};
  if (Status status = validate(schedule, place); !status) return status.error();
  return schedule;
}

bool is_thread_path(std::string_view path) {
  if (path.substr(0, 1) != "0") return false;
  for (size_t at = 1; at < path.size();) {
    if (path[at] != '.' || at + 1 >= path.size() || path[at + 1] < '1' || path[at + 1] > '9') return false;
    for (++at; at < path.size() && path[at] >= '0' && path[at] <= '9';) ++at;
  }
  return true;
}

Status validate(const Schedule& schedule, const std::string& place) {
  if (schedule.stopped > Stopped::Livelock) return Error{place, "the schedule ends in no known way"};
  for (size_t index = 0; index < schedule.threads.size(); ++index) {
    const std::string& path = schedule.threads[index];
    if (!is_thread_path(path))
      return Error{place, fmt::format("'{}' is not a thread path such as 0.2.1", path)};
    if ((index == 0) != (path == "0"))
      return Error{place, "the first thread of a schedule, and only that, is 0"};
  }
  for (const Run& run : schedule.runs)
    if (run.how > Handover::Taken) return Error{place, "a run ends in no known way"};
  for (const Run& run : schedule.runs)
    if (run.thread >= schedule.threads.size())
      return Error{place,
                   fmt::format("a run names thread number {} of {}", run.thread, schedule.threads.size())};
  for (const Pinned& pinned : schedule.pinned)
    if (pinned.thread >= schedule.threads.size())
      return Error{
          place, fmt::format("a value names thread number {} of {}", pinned.thread, schedule.threads.size())};
  for (const Step& step : schedule.steps)
    if (step.module != UINT32_MAX && step.module >= schedule.modules.size())
      return Error{place,
                   fmt::format("a step names module number {} of {}", step.module, schedule.modules.size())};
  if (schedule.steps.size() > schedule.points()) return Error{place, "more steps than points"};
  uint64_t fewest =
      schedule.steps.size() + (schedule.points() - schedule.steps.size()) / kPointsOfFingerprint;
  if (schedule.fingerprints.size() > schedule.points() || schedule.fingerprints.size() < fewest)
    return Error{
        place, fmt::format("{} fingerprints for {} points", schedule.fingerprints.size(), schedule.points())};
  return Done{};
}

}  // namespace cleave
