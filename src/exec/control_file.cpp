#include "exec/control_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

namespace cleave::exec {
namespace {

// Sizes of what the runtime fills. The file is sparse: what is not written takes no room.
constexpr uint64_t kThreadBytes = (uint64_t{1} << 20) * sizeof(cleave_control_thread);
constexpr uint64_t kRunBytes = uint64_t{1} << 32;
constexpr uint64_t kFingerprintBytes = uint64_t{1} << 34;
constexpr uint64_t kStepBytes = (uint64_t{1} << 18) * sizeof(cleave_control_step);
constexpr uint64_t kPinnedBytes = uint64_t{1} << 32;
constexpr uint64_t kModuleBytes = (uint64_t{1} << 14) * sizeof(cleave_control_module);
constexpr uint64_t kWaitBytes = (uint64_t{1} << 14) * sizeof(cleave_control_wait);

// Both we and the program map the whole file. Where addresses or files are limited (ulimit -v, -f), the three
// large areas take a quarter of what there is, and a run can be so much shorter.
uint64_t room_for_large_areas() {
  uint64_t least = kRunBytes + kFingerprintBytes + kPinnedBytes;
  for (auto resource : {RLIMIT_AS, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      least = std::min<uint64_t>(least, limit.rlim_cur / 4);
  }
  return least;
}

// The request's tree of threads: every prefix of every path is in it, parents first.
class ThreadTree {
 public:
  ThreadTree() { add("0"); }
  uint32_t add(const std::string& path) {
    if (auto known = index_.find(path); known != index_.end()) return known->second;
    uint32_t parent = 0, ordinal = 0;
    if (size_t dot = path.rfind('.'); dot != std::string::npos) {
      parent = add(path.substr(0, dot));
      ordinal = static_cast<uint32_t>(std::strtoul(path.c_str() + dot + 1, nullptr, 10));
    }
    entries.push_back({parent, ordinal, UINT64_MAX});
    return index_[path] = static_cast<uint32_t>(entries.size() - 1);
  }
  std::vector<cleave_control_thread> entries;

 private:
  std::map<std::string, uint32_t> index_;
};

// The bytes in front of the runtime's areas.
class Layout {
 public:
  Layout() : bytes_(sizeof(cleave_control_header)) {}
  template <typename Entry>
  void put(cleave_control_area& area, const std::vector<Entry>& entries) {
    bytes_.resize((bytes_.size() + 63) & ~size_t{63});
    area = {bytes_.size(), entries.size() * sizeof(Entry), entries.size() * sizeof(Entry)};
    const auto* first = reinterpret_cast<const uint8_t*>(entries.data());
    bytes_.insert(bytes_.end(), first, first + area.used);
  }
  void reserve(cleave_control_area& area, uint64_t capacity) {
    if (end_ == 0) end_ = (bytes_.size() + 4095) & ~uint64_t{4095};
    area = {end_, capacity, 0};
    end_ += (capacity + 4095) & ~uint64_t{4095};
  }
  std::vector<uint8_t>& bytes() { return bytes_; }
  uint64_t end() const { return end_; }

 private:
  std::vector<uint8_t> bytes_;
  uint64_t end_ = 0;
};

bool is_at_call(EventKind kind) {
  return !is_access(kind) && kind != EventKind::Begin && kind != EventKind::End;
}

// Numbers for sets of segments; equal sets have one.
class PlaceGroups {
 public:
  uint32_t add(const std::vector<SegmentPlace>& places) {
    std::vector<std::pair<uint64_t, uint32_t>> key;
    for (const SegmentPlace& place : places) key.emplace_back(place.identity, place.segment);
    auto [group, fresh] = groups_.emplace(key, static_cast<uint32_t>(groups_.size()));
    if (fresh)
      for (const auto& [identity, segment] : key) entries.push_back({identity, segment, group->second});
    return group->second;
  }
  std::vector<cleave_control_place> entries;

 private:
  std::map<std::vector<std::pair<uint64_t, uint32_t>>, uint32_t> groups_;
};

void put_plan(Layout& layout, cleave_control_header& header, ThreadTree& tree, const Plan& plan,
              const std::vector<std::vector<SegmentPlace>>& places) {
  std::vector<cleave_control_milestone> milestones;
  PlaceGroups groups;
  for (size_t i = 0; i < plan.milestones.size(); ++i) {
    const Milestone& milestone = plan.milestones[i];
    milestones.push_back({tree.add(milestone.thread), groups.add(places[i]), milestone.occurrence,
                          milestone.value.value_or(0), milestone.value.has_value(),
                          is_at_call(milestone.kind)});
  }
  layout.put(header.milestones, milestones);
  layout.put(header.places, groups.entries);
}

void put_constraints(Layout& layout, cleave_control_header& header, const std::vector<Constraint>& asked,
                     const std::vector<RequestPlaces::OfConstraint>& places) {
  std::vector<cleave_control_constraint> entries;
  PlaceGroups groups;
  for (size_t i = 0; i < asked.size(); ++i) {
    const uint32_t after = asked[i].after ? groups.add(places[i].after) : CLEAVE_NO_PLACE;
    entries.push_back({after, groups.add(places[i].then), groups.add(places[i].between),
                       asked[i].negative ? CLEAVE_CONSTRAINT_NEGATIVE : 0, asked[i].occurrence});
  }
  layout.put(header.constraints, entries);
  layout.put(header.places, groups.entries);
}

void put_schedule(Layout& layout, cleave_control_header& header, ThreadTree& tree, const Schedule& schedule) {
  std::vector<uint32_t> index;
  for (const std::string& path : schedule.threads) index.push_back(tree.add(path));
  std::vector<cleave_control_run> runs;
  for (const Run& run : schedule.runs)
    runs.push_back({index[run.thread], static_cast<uint32_t>(run.how), run.points});
  layout.put(header.replay_runs, runs);
  layout.put(header.replay_fingerprints, schedule.fingerprints);
  std::vector<cleave_control_module> modules;
  for (const ModuleIdentity& module : schedule.modules) modules.push_back({module.identity, {}});
  layout.put(header.replay_modules, modules);
  std::vector<std::vector<const Pinned*>> of_thread(schedule.threads.size());
  for (const Pinned& pinned : schedule.pinned) of_thread[pinned.thread].push_back(&pinned);
  std::vector<uint8_t> bytes;
  for (size_t thread = 0; thread < of_thread.size(); ++thread) {
    if (!of_thread[thread].empty()) tree.entries[index[thread]].pinned = bytes.size();
    for (const Pinned* pinned : of_thread[thread]) {
      cleave_control_pinned entry{index[thread], pinned->source, 0, pinned->bytes.size()};
      const auto* first = reinterpret_cast<const uint8_t*>(&entry);
      bytes.insert(bytes.end(), first, first + sizeof entry);
      bytes.insert(bytes.end(), pinned->bytes.begin(), pinned->bytes.end());
      bytes.resize((bytes.size() + 7) & ~size_t{7});
    }
  }
  layout.put(header.replay_pinned, bytes);
}

void put_switches(Layout& layout, cleave_control_header& header, ThreadTree& tree,
                  const std::vector<Switch>& switches) {
  std::vector<cleave_control_switch> entries;
  for (const Switch& each : switches) {
    uint32_t how = each.how == Handover::Preempted ? CLEAVE_RUN_PREEMPTED : CLEAVE_RUN_GAVE_AWAY;
    entries.push_back({tree.add(each.thread), tree.add(each.next), how, 0, each.points});
  }
  // A thread that is preempted at a point may then have to wait there.
  auto place = [](const cleave_control_switch& each) {
    return std::tuple(each.thread, each.points, each.how != CLEAVE_RUN_PREEMPTED);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const auto& a, const auto& b) { return place(a) < place(b); });
  layout.put(header.switches, entries);
}

void lay_out(Layout& layout, cleave_control_header& header, const RunRequest& request,
             const RequestPlaces& places) {
  header.magic = CLEAVE_CONTROL_MAGIC;
  header.version = CLEAVE_CONTROL_VERSION;
  header.policy = static_cast<uint32_t>(request.policy);
  header.seed = request.seed;
  header.pct_depth = request.pct_depth;
  header.pct_points = request.pct_points != 0 ? request.pct_points : 10000;
  header.flags =
      (request.spurious ? CLEAVE_CONTROL_SPURIOUS : 0) | (request.drain ? 0 : CLEAVE_CONTROL_NO_DRAIN);
  ThreadTree tree;
  if (request.policy == Policy::Replay) put_schedule(layout, header, tree, *request.schedule);
  if (request.policy == Policy::Switches) put_switches(layout, header, tree, request.switches);
  // A replay may have milestones too: it says when it comes to them (gdb.h).
  if (request.plan) put_plan(layout, header, tree, *request.plan, places.milestones);
  if (request.policy == Policy::Rf) put_constraints(layout, header, request.constraints, places.constraints);
  layout.put(header.request_threads, tree.entries);
  layout.reserve(header.threads, kThreadBytes);
  const uint64_t room = room_for_large_areas();
  layout.reserve(header.runs, std::min(kRunBytes, room / 4));
  layout.reserve(header.fingerprints, std::min(kFingerprintBytes, room / 2));
  layout.reserve(header.steps, kStepBytes);
  layout.reserve(header.pinned, std::min(kPinnedBytes, room / 4));
  layout.reserve(header.modules, kModuleBytes);
  layout.reserve(header.waits, kWaitBytes);
}

Error no_room(uint64_t bytes, int error) {
  return Error{"",
               fmt::format("control needs {} MB of address space and a file in memory of that size, which "
                           "cannot be had: {}; raise the limit (ulimit -v, ulimit -f)",
                           bytes >> 20, std::strerror(error))};
}

}  // namespace

Result<ControlFile> ControlFile::make(const RunRequest& request, const RequestPlaces& places) {
  cleave_control_header header{};
  Layout layout;
  lay_out(layout, header, request, places);
  std::memcpy(layout.bytes().data(), &header, sizeof header);

  // To try would be answered with a signal.
  rlimit longest{};
  if (getrlimit(RLIMIT_FSIZE, &longest) == 0 && layout.end() > longest.rlim_cur)
    return no_room(layout.end(), EFBIG);
  ControlFile file;
  // In memory: the runtime writes a byte at every point, and pages of a file on disk are several times as
  // expensive.
  Result<TemporaryFile> made = TemporaryFile::make("control", TemporaryFile::Place::Memory);
  if (!made) return made.error();
  file.file_ = std::move(made).value();
  const int descriptor = file.file_->descriptor();
  bool sized = ftruncate(descriptor, static_cast<off_t>(layout.end())) == 0 &&
               pwrite(descriptor, layout.bytes().data(), layout.bytes().size(), 0) ==
                   static_cast<ssize_t>(layout.bytes().size());
  int error = errno;
  void* address =
      sized ? mmap(nullptr, layout.end(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0)
            : MAP_FAILED;
  if (sized) error = errno;
  if (address == MAP_FAILED) {
    return no_room(layout.end(), error);
  }
  file.header_ = static_cast<cleave_control_header*>(address);
  file.made_ = header;
  file.bytes_ = layout.end();
  return file;
}

ControlFile::ControlFile(ControlFile&& other) noexcept
    : file_(std::move(other.file_)),
      header_(std::exchange(other.header_, nullptr)),
      made_(other.made_),
      bytes_(other.bytes_) {}

ControlFile::~ControlFile() {
  if (header_ != nullptr) munmap(header_, bytes_);
}

std::span<const char> ControlFile::bytes_in(Area area) const {
  const cleave_control_area& made = made_.*area;
  return {reinterpret_cast<const char*>(header_) + made.offset,
          std::min((header_->*area).used, made.capacity)};
}

template <typename Entry>
std::vector<Entry> ControlFile::read(Area area) const {
  std::span<const char> bytes = bytes_in(area);
  const auto* first = reinterpret_cast<const Entry*>(bytes.data());
  return std::vector<Entry>(first, first + bytes.size() / sizeof(Entry));
}

std::vector<std::string> ControlFile::thread_paths() const {
  std::vector<std::string> paths;
  for (const cleave_control_thread& thread : read<cleave_control_thread>(&cleave_control_header::threads)) {
    if (paths.empty())
      paths.emplace_back("0");
    else if (thread.parent < paths.size())
      paths.push_back(fmt::format("{}.{}", paths[thread.parent], thread.ordinal));
    else
      break;
  }
  return paths;
}

std::vector<ModuleIdentity> ControlFile::modules() const {
  std::vector<ModuleIdentity> modules;
  for (const cleave_control_module& module : read<cleave_control_module>(&cleave_control_header::modules))
    modules.push_back({std::string(module.name, strnlen(module.name, sizeof module.name)), module.identity});
  return modules;
}

std::vector<cleave_control_wait> ControlFile::waits() const {
  return read<cleave_control_wait>(&cleave_control_header::waits);
}

Schedule ControlFile::schedule() const {
  Schedule schedule;
  schedule.threads = thread_paths();
  schedule.modules = modules();
  if (schedule.threads.empty()) return schedule;
  schedule.fingerprints = read<uint8_t>(&cleave_control_header::fingerprints);
  uint64_t left = header_->points;
  for (const cleave_control_run& run : read<cleave_control_run>(&cleave_control_header::runs)) {
    if (run.thread >= schedule.threads.size() || run.points > left) break;
    schedule.runs.push_back({run.thread, static_cast<Handover>(run.how), run.points});
    left -= run.points;
  }
  // The run that was under way when the program ended, also if it had not come to a point.
  if (header_->holder < schedule.threads.size())
    schedule.runs.push_back({header_->holder, Handover::GaveAway, left});
  for (const cleave_control_step& step : read<cleave_control_step>(&cleave_control_header::steps)) {
    if (schedule.steps.size() == header_->points) break;
    schedule.steps.push_back({static_cast<uint16_t>(step.operation),
                              step.module < schedule.modules.size() ? step.module : UINT32_MAX, step.segment,
                              step.value});
  }
  const std::span<const char> pinned = bytes_in(&cleave_control_header::pinned);
  for (uint64_t at = 0; at + sizeof(cleave_control_pinned) <= pinned.size();) {
    cleave_control_pinned entry;
    std::memcpy(&entry, pinned.data() + at, sizeof entry);
    at += sizeof entry;
    if (entry.bytes > pinned.size() - at || entry.thread >= schedule.threads.size()) break;
    const auto* first = reinterpret_cast<const uint8_t*>(pinned.data() + at);
    schedule.pinned.push_back({entry.thread, entry.source, {first, first + entry.bytes}});
    at += (entry.bytes + 7) & ~uint64_t{7};
  }
  return schedule;
}

}  // namespace cleave::exec
