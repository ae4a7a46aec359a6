#include "cli/symbolic_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/apart.h"
#include "base/interrupt.h"

namespace cleave::cli {
namespace {

using prediction::Candidate;
using prediction::Prediction;
using prediction::Triple;

std::string module_path() {
  std::array<char, 4096> path{};
  ssize_t size = readlink("/proc/self/exe", path.data(), path.size() - 1);
  std::string self(path.data(), size > 0 ? static_cast<size_t>(size) : 0);
  return self.substr(0, self.rfind('/') + 1) + "../lib/libcleave_symbolic.so";
}

}  // namespace

Result<void*> symbolic_door(const char* name) {
  void* library = dlopen(module_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* door = library == nullptr ? nullptr : dlsym(library, name);
  if (door != nullptr) return door;
  const char* why = dlerror();
  return Error{"", std::string("the solver cannot be loaded (") + (why == nullptr ? "no reason given" : why) +
                       "); `cleave doctor` says what to install"};
}

namespace {

Status decide_in_module(const RecordedTrace& recorded, const feasibility::SymbolicStageOptions& options,
                        Prediction* prediction) {
  Result<void*> door = symbolic_door(feasibility::kDoor);
  if (!door) return door.error();
  Status status = Done{};
  reinterpret_cast<feasibility::Door>(door.value())(&recorded, &options, prediction, &status);
  return status;
}

// Both ends are copies of one program, so values travel as they are in memory.
enum class Message : uint8_t { Progress, Decided, Error, Report };

class Writer {
 public:
  explicit Writer(Message kind) { put(kind); }
  template <typename Value>
  void put(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void put_text(std::string_view text) {
    put(text.size());
    bytes_.append(text);
  }
  template <typename Value>
  void put_all(const std::vector<Value>& values) {
    put_text({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)});
  }
  void put_counts(const std::map<std::string, uint64_t>& counts) {
    put(counts.size());
    for (const auto& [name, count] : counts) {
      put_text(name);
      put(count);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// What a crashing process sent last may be nonsense: every length is looked at, and what is not there is
// zero.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <typename Value>
  Value get() {
    Value value{};
    if (bytes_.size() < sizeof value) bytes_ = {};
    if (bytes_.empty()) return value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::string get_text() {
    const auto size = std::min(get<size_t>(), bytes_.size());
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  template <typename Value>
  std::vector<Value> get_all() {
    const std::string text = get_text();
    std::vector<Value> values(text.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), text.data(), values.size() * sizeof(Value));
    return values;
  }
  std::map<std::string, uint64_t> get_counts() {
    std::map<std::string, uint64_t> counts;
    for (auto left = get<size_t>(); left > 0 && !bytes_.empty(); --left) {
      std::string name = get_text();
      counts[std::move(name)] = get<uint64_t>();
    }
    return counts;
  }

 private:
  std::string_view bytes_;
};

std::string told(size_t index, const Candidate& candidate) {
  Writer writer(Message::Decided);
  writer.put(index);
  writer.put_text(candidate.symbolic);
  writer.put(candidate.only_equal_values);
  writer.put(candidate.triple());
  writer.put_all(candidate.symbolic_order);
  writer.put_counts(candidate.inputs);
  return writer.bytes();
}

void adopt(Reader& reader, size_t events, Prediction* prediction) {
  const auto index = reader.get<size_t>();
  if (index >= prediction->candidates.size()) return;
  Candidate& candidate = prediction->candidates[index];
  candidate.symbolic = reader.get_text();
  candidate.only_equal_values = reader.get<bool>();
  const auto triple = reader.get<Triple>();
  auto at = std::find(candidate.representatives.begin(), candidate.representatives.end(), triple);
  if (at != candidate.representatives.end()) std::iter_swap(candidate.representatives.begin(), at);
  candidate.symbolic_order = reader.get_all<prediction::EventNumber>();
  std::erase_if(candidate.symbolic_order, [&](prediction::EventNumber event) { return event >= events; });
  candidate.inputs = reader.get_counts();
}

std::string told(const Prediction& prediction, size_t remarks_before) {
  Writer writer(Message::Report);
  const StageReport& stage = prediction.stages.back();
  writer.put_text(stage.name);
  writer.put(stage.triples);
  writer.put(stage.sites);
  writer.put(stage.seconds);
  writer.put_counts(stage.counts);
  for (size_t i = remarks_before; i < prediction.remarks.size(); ++i) writer.put_text(prediction.remarks[i]);
  return writer.bytes();
}

StageReport read_report(Reader& reader, std::vector<std::string>* remarks) {
  StageReport stage;
  stage.name = reader.get_text();
  stage.triples = reader.get<uint64_t>();
  stage.sites = reader.get<uint64_t>();
  stage.seconds = reader.get<double>();
  stage.counts = reader.get_counts();
  for (std::string remark = reader.get_text(); !remark.empty(); remark = reader.get_text())
    remarks->push_back(std::move(remark));
  return stage;
}

// In the child: how far the stage is, several times a second.
class ProgressSender {
 public:
  ProgressSender(Progress& progress, const Send& send) {
    thread_ = std::thread([this, &progress, &send] {
      std::unique_lock guard(mutex_);
      while (!stopped_.wait_for(guard, std::chrono::milliseconds(200), [&] { return stop_; })) {
        Writer writer(Message::Progress);
        writer.put_text(progress.text());
        send(writer.bytes());
      }
    });
  }
  ~ProgressSender() {
    {
      std::lock_guard guard(mutex_);
      stop_ = true;
    }
    stopped_.notify_all();
    thread_.join();
  }
  ProgressSender(const ProgressSender&) = delete;
  ProgressSender& operator=(const ProgressSender&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

// The child's part.
void decide_and_tell(const RecordedTrace& recorded, feasibility::SymbolicStageOptions options,
                     Prediction* prediction, const Send& send) {
  Progress progress;
  std::optional<ProgressSender> sender;
  if (options.progress != nullptr) {
    options.progress = &progress;  // ours: a thread that is not here may hold the other's lock
    try {
      sender.emplace(progress, send);
    } catch (const std::system_error&) {
      // Without a thread for it nobody is told how far the stage is.
    }
  }
  options.decided = [&](size_t index) { send(told(index, prediction->candidates[index])); };
  const size_t remarks = prediction->remarks.size();
  Status status = decide_in_module(recorded, options, prediction);
  if (status) return send(told(*prediction, remarks));
  Writer writer(Message::Error);
  writer.put_text(status.error().sentence());
  send(writer.bytes());
}

// What is known of a stage that did not come to its end.
StageReport report_of_prefix(const Prediction& prediction, double seconds) {
  StageReport stage;
  stage.name = "symbolic";
  stage.seconds = seconds;
  stage.counts["unsat"] = stage.counts["unknown"] = 0;
  for (const Candidate& candidate : prediction.candidates) {
    if (candidate.reached != prediction::Reached::Locks) continue;
    stage.sites += candidate.symbolic == "sat";
    stage.counts["unsat"] += candidate.symbolic == "unsat";
    stage.counts["unknown"] += candidate.symbolic != "sat" && candidate.symbolic != "unsat";
  }
  stage.triples = stage.sites;
  return stage;
}

}  // namespace

Status decide_apart(const RecordedTrace& recorded, const feasibility::SymbolicStageOptions& options,
                    Prediction* prediction) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<StageReport> report;
  std::string error;
  auto take = [&](std::string_view message) {
    Reader reader(message);
    switch (reader.get<Message>()) {
      case Message::Progress:
        if (options.progress != nullptr) options.progress->begin(reader.get_text());
        break;
      case Message::Decided:
        adopt(reader, recorded.trace.size(), prediction);
        break;
      case Message::Error:
        error = reader.get_text();
        break;
      case Message::Report:
        report = read_report(reader, &prediction->remarks);
        break;
    }
  };
  const bool open = std::any_of(prediction->candidates.begin(), prediction->candidates.end(),
                                [](const Candidate& c) { return c.reached == prediction::Reached::Locks; });
  if (!open) {  // not even the library is needed
    prediction->stages.push_back(report_of_prefix(*prediction, 0));
    return Done{};
  }
  const uint64_t memory = available_memory();
  Result<ApartEnd> end =
      run_apart([&](const Send& send) { decide_and_tell(recorded, options, prediction, send); }, take,
                {.memory = memory == UINT64_MAX ? 0 : memory});
  if (!end) return end.error();
  if (report) prediction->stages.push_back(std::move(*report));
  if (report) return Done{};
  if (!error.empty()) return Error{"", error};
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  prediction->stages.push_back(report_of_prefix(*prediction, seconds));
  if (end.value().how == ApartEnd::How::Interrupted) return Error{"", "interrupted"};
  return Error{"", "it ended by " + end.value().sentence()};
}

}  // namespace cleave::cli
