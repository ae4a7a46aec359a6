#include "trace/recorded/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/interrupt.h"
#include "trace/imported/imported_events.h"
#include "trace/recorded/merge.h"

namespace cleave {
namespace {

// "prog arg …" out of the PROCESS chunk; damaged JSON gives an empty name.
std::string program_of(std::string_view text) {
  nlohmann::json process = nlohmann::json::parse(text, nullptr, false);
  if (!process.is_object()) return {};
  std::string program = process.contains("program") && process["program"].is_string()
                            ? process["program"].get<std::string>()
                            : "";
  if (!process.contains("arguments") || !process["arguments"].is_array()) return program;
  std::string line = program;
  bool first = true;
  for (const nlohmann::json& argument : process["arguments"]) {
    if (!argument.is_string()) continue;
    if (!std::exchange(first, false))
      line += " " + argument.get<std::string>();
    else if (line.empty())
      line = argument.get<std::string>();
  }
  return line;
}

class RecordSource final : public BinarySource {
 public:
  RecordSource(std::shared_ptr<TraceFile> file, ReadOptions options, bool origins)
      : file_(std::move(file)),
        options_(std::move(options)),
        assembler_(builder_, *file_, origins),
        merger_(*file_, assembler_) {
    builder_.set_program(program_of(file_->text(CLEAVE_CHUNK_PROCESS)));
    if (options_.reuse_ids) assembler_.reuse_ids();
    if (options_.stretches) assembler_.stretch_ranges();
  }

  Result<std::span<const Event>> next() override {
    if (options_.reuse_ids) settle();
    const Batch* batch = next_batch();
    if (batch != nullptr) return std::span<const Event>(batch->events);
    batch_.clear();
    return std::span<const Event>();
  }
  const Batch* next_batch() {
    let_go();
    if (!run()) return nullptr;
    assembler_.recycle(std::move(batch_));
    batch_ = assembler_.take_current();
    return &batch_;
  }
  std::span<const VariableSplit> splits() const override { return batch_.splits; }
  const FreedIds& freed() const override { return batch_.freed; }
  uint64_t old_value(size_t position) const override { return batch_.old_value(position); }
  const Trace& tables() const override { return builder_.tables(); }
  bool complete() const override { return !merger_.ends_early() && !cut(); }
  const TraceFile& file() const override { return *file_; }
  uint64_t position() const override { return position_.load(std::memory_order_relaxed); }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> remarks = file_->remarks();
    for (std::string& remark : merger_.remarks()) remarks.push_back(std::move(remark));
    if (cut()) {
      remarks.push_back(
          "the trace was cut at its limit (--max-trace): what the program did after that is missing");
    } else if (!file_->ended() && !file_->damaged()) {
      remarks.push_back(
          "the trace has no end: the program was killed or still runs; what its threads had not yet written "
          "is missing");
    }
    return remarks;
  }

  ReadNotes notes() const override {
    ReadNotes notes{.unexplained_reads = assembler_.unexplained_reads()};
    const std::vector<uint64_t>& counts = assembler_.unexplained();
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0)
        notes.unexplained.emplace_back(i == 0 ? kNone<SiteId> : id_of<SiteId>(i - 1), counts[i]);
    }
    std::sort(notes.unexplained.begin(), notes.unexplained.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    return notes;
  }

  TouchedEntries* touched() override { return &assembler_.directory().touched(); }
  void take(Batch& into) override {
    into.clear();
    std::swap(batch_, into);
    batch_.freed = into.freed;
  }
  EventBuilder& assembler() { return assembler_; }

 private:
  static constexpr size_t kBatch = 4096;

  // The recording ended before the program did.
  bool cut() const {
    const nlohmann::json end = nlohmann::json::parse(file_->last_text(CLEAVE_CHUNK_END), nullptr, false);
    return end.is_object() && end.contains("ended") && end["ended"] == "limit";
  }

  // What has been read needs no memory, and where it may be erased no room on the disk.
  void let_go() {
    // In batches: a million events; where somebody waits for us, sixty thousand.
    const unsigned sometimes = options_.on_progress ? 16 : 256;
    if (++batches_ % sometimes == 0) let_go_now();
  }
  void let_go_now() {
    const bool erase = options_.erase_beyond != 0 && file_->scanned() > options_.erase_beyond;
    const uint64_t position = merger_.read_up_to();
    position_.store(position, std::memory_order_relaxed);
    file_->read_up_to(position, erase);
    if (options_.on_progress) options_.on_progress(position);
  }

  // The last batch has been seen, and the tables as they were then: what it had last may be overwritten.
  void settle() {
    assembler_.give_back(batch_.freed);
    batch_.freed.clear();
    const TableChanges& changes = builder_.tables().changes();
    builder_.drop_changes(changes.outer_set_dropped + changes.outer_set.size(),
                          changes.moved_dropped + changes.moved.size());
  }

  // Until there is a batch; false at the end.
  bool run() {
    for (;;) {
      switch (merger_.run(kBatch, !options_.live() || final_)) {
        case Merger::Outcome::Batch:
          stuck_since_.reset();
          return true;
        case Merger::Outcome::End:
          return false;
        case Merger::Outcome::NeedsMore:
          wait_for_more();
      }
    }
  }

  // Polls: a program that is being recorded writes a chunk every few milliseconds, and inotify would be no
  // sooner.
  void wait_for_more() {
    constexpr auto kPoll = std::chrono::milliseconds(2);
    constexpr auto kAsleep = std::chrono::milliseconds(200);
    constexpr auto kAsleepBesideOthers = std::chrono::seconds(2);
    // One thread may write for ever while another sleeps: then there is never silence, and no batch either.
    auto now = std::chrono::steady_clock::now();
    if (!stuck_since_) stuck_since_ = now;
    if (now - *stuck_since_ >= kAsleepBesideOthers) merger_.skip_idle_threads();
    if (options_.on_progress) let_go_now();
    bool alive = options_.writer_alive();  // asked first: what it wrote before it went is there afterwards
    if (file_->refresh()) {
      merger_.refresh();
      silent_ = {};
      return;
    }
    if (file_->ended() || file_->damaged() || !alive) {
      final_ = true;
      return;
    }
    std::this_thread::sleep_for(kPoll);
    silent_ += kPoll;
    if (silent_ >= kAsleep) merger_.skip_idle_threads();
  }

  std::shared_ptr<TraceFile> file_;
  ReadOptions options_;
  TraceBuilder builder_;
  EventBuilder assembler_;
  Merger merger_;
  Batch batch_;
  bool final_ = false;
  unsigned batches_ = 0;
  std::atomic<uint64_t> position_ = 0;
  std::chrono::milliseconds silent_{};
  std::optional<std::chrono::steady_clock::time_point> stuck_since_;
};

// Gives every event on a location that was split later one event for each of its last parts, and every
// variable that is left the next free number.
class SplitResolver {
 public:
  explicit SplitResolver(size_t variables) : parts_(variables) {}
  void add(const VariableSplit& split) {
    if (raw(split.whole) >= parts_.size()) parts_.resize(raw(split.whole) + size_t{1});
    parts_[raw(split.whole)] = split.parts;
  }
  // The last parts of a variable, in order of address.
  void leaves(VariableId id, std::vector<VariableId>& out) const {
    if (raw(id) >= parts_.size() || parts_[raw(id)].empty()) return out.push_back(id);
    for (VariableId part : parts_[raw(id)]) leaves(part, out);
  }
  bool is_split(VariableId id) const { return raw(id) < parts_.size() && !parts_[raw(id)].empty(); }

 private:
  std::vector<std::vector<VariableId>> parts_;
};

struct Collected {
  std::vector<Event> events;
  std::vector<EventOrigin> origins;
  std::vector<std::pair<uint64_t, uint64_t>> old_values;  // by event, ascending
  std::vector<VariableSplit> splits;
};

Collected collect(RecordSource& source) {
  Collected all;
  while (const Batch* batch = interrupted() ? nullptr : source.next_batch()) {
    for (const auto& [position, value] : batch->old_values)
      all.old_values.emplace_back(all.events.size() + position, value);
    all.events.insert(all.events.end(), batch->events.begin(), batch->events.end());
    all.origins.insert(all.origins.end(), batch->origins.begin(), batch->origins.end());
    all.splits.insert(all.splits.end(), batch->splits.begin(), batch->splits.end());
  }
  return all;
}

// Rebuilds the tables without the variables that were split, with inner objects resolved, and puts the events
// behind them.
class Settler {
 public:
  Settler(RecordSource& source, Collected& all)
      : source_(source), all_(all), tables_(source.tables()), splits_(tables_.variable_count()) {
    for (const VariableSplit& split : all.splits) splits_.add(split);
  }

  RecordedTrace run() {
    for (const auto& [event, value] : source_.assembler().learned()) {
      if (event < all_.events.size()) all_.events[event].value = value;
    }
    tables();
    builder_.reserve(all_.events.size());
    result_.origins.reserve(all_.events.size());
    size_t update = 0;
    for (size_t i = 0; i < all_.events.size(); ++i) {
      bool is_update = all_.events[i].kind == EventKind::Update;
      add(all_.events[i], is_update ? all_.old_values[update++].second : 0, i);
    }
    for (std::string& remark : source_.remarks()) builder_.remark(std::move(remark));
    builder_.set_ends_early(!source_.complete());
    result_.trace = std::move(builder_).build();
    result_.notes = source_.notes();
    return std::move(result_);
  }

 private:
  void tables() {
    for (const ThreadInfo& info : tables_.threads()) builder_.add_thread(info);
    for (const ObjectInfo& info : tables_.objects()) builder_.add_object(info);
    for (const SyncInfo& info : tables_.syncs()) builder_.add_sync(info);
    for (const SiteInfo& info : tables_.sites()) builder_.add_site(info);
    for (const UnitNameInfo& info : tables_.unit_names()) builder_.add_unit_name(info);
    for (const ContextInfo& info : tables_.contexts()) builder_.add_context(info);
    for (const std::string& name : tables_.input_names()) builder_.input_name(name);
    builder_.set_program(tables_.program());
    numbers_.resize(tables_.variable_count(), kNone<VariableId>);
    for (size_t i = 0; i < tables_.variables().size(); ++i) {
      if (splits_.is_split(id_of<VariableId>(i))) continue;
      VariableInfo info = tables_.variables()[i];
      outermost(info.object, &info.field);
      numbers_[i] = builder_.add_variable(std::move(info));
    }
  }

  void outermost(ObjectId& object, std::string* field) const {
    const auto& outers = source_.assembler().directory().outers();
    for (int depth = 0; object != kNone<ObjectId> && depth < 32; ++depth) {
      auto it = outers.find(raw(object));
      if (it == outers.end()) return;
      if (field != nullptr) *field = it->second.prefix + *field;
      object = it->second.object;
    }
  }

  void add(Event event, uint64_t old_value, size_t index) {
    if (event.kind == EventKind::Begin && event.object2 != UINT32_MAX) {
      ObjectId self = event.self();
      outermost(self, nullptr);
      event.object2 = raw(self);
    }
    if (!is_access(event.kind)) return put(event, 0, index);
    leaves_.clear();
    splits_.leaves(event.variable(), leaves_);
    uint64_t base = tables_.variable(event.variable()).address;
    for (VariableId leaf : leaves_) {
      const VariableInfo& info = tables_.variable(leaf);
      Event part = event;
      auto shift = static_cast<uint32_t>(8 * (info.address - base));
      part.object = raw(numbers_[raw(leaf)]);
      part.value = part_of(event.value, shift, info.size);
      part.set_width(info.size);
      if (leaf != leaves_.front()) part.branches = 0;
      put(part, part_of(old_value, shift, info.size), index);
    }
  }

  void put(const Event& event, uint64_t old_value, size_t index) {
    if (event.kind == EventKind::Update) {
      builder_.add_update(event, old_value);
    } else {
      builder_.add(event);
    }
    if (!all_.origins.empty()) result_.origins.push_back(all_.origins[index]);
  }

  RecordSource& source_;
  Collected& all_;
  const Trace& tables_;
  SplitResolver splits_;
  TraceBuilder builder_;
  RecordedTrace result_;
  std::vector<VariableId> numbers_;  // of each variable that is left
  std::vector<VariableId> leaves_;
};

}  // namespace

Result<std::unique_ptr<BinarySource>> open_binary_trace(const std::string& path, const ReadOptions& options) {
  Result<TraceFile> file = TraceFile::open(path, options.live());
  if (!file) return file.error();
  auto shared = std::make_shared<TraceFile>(std::move(file).value());
  if (has_plain_events(*shared)) return open_plain_events(std::move(shared));
  return std::unique_ptr<BinarySource>(new RecordSource(std::move(shared), options, false));
}

Result<RecordedTrace> load_recorded_trace(const std::string& path) {
  Result<TraceFile> file = TraceFile::open(path, false);
  if (!file) return file.error();
  auto shared = std::make_shared<TraceFile>(std::move(file).value());
  if (has_plain_events(*shared)) {
    Result<Trace> trace = load_plain_events(*shared);
    if (!trace) return trace.error();
    RecordedTrace result{.trace = std::move(trace).value(), .file = shared};
    result.lane_of_thread.assign(result.trace.threads().size(), SIZE_MAX);
    return result;
  }
  RecordSource source(shared, {}, true);
  Collected all = collect(source);
  if (interrupted()) return Error{path, "interrupted while it was read"};
  RecordedTrace result = Settler(source, all).run();
  result.file = shared;
  result.lane_of_thread.assign(result.trace.threads().size(), SIZE_MAX);
  for (size_t i = 0; i < shared->threads().size(); ++i) {
    result.lane_of_thread[raw(source.assembler().thread(shared->threads()[i].number).id)] = i;
  }
  return result;
}

Result<Trace> load_binary_trace(const std::string& path) {
  Result<RecordedTrace> recorded = load_recorded_trace(path);
  if (!recorded) return recorded.error();
  return std::move(recorded.value().trace);
}

}  // namespace cleave
