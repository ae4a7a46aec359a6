// What the scheduler writes into the control file, and the values from outside that it takes from there in a
// replay.
#include <fcntl.h>
#include <string.h>

#include "runtime/record/scrub.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

// Modules in the order of their registration. Looked up by the address of a segment; few, so a scan from the
// one that was found last is enough.
struct KnownModule {
  const cleave_segment* first;
  uint32_t count;
};
constexpr uint32_t kModules = 1u << 14;
KnownModule* modules;
std::atomic<uint32_t> module_count{0};

// Steps in full for the first points; after that their fingerprints must do.
constexpr uint64_t kPadding = 7;

cleave_control_pinned* next_pinned(ControlThread* thread) {
  if (thread->pinned_at >= control.file->replay_pinned.used) return nullptr;
  auto* entry = reinterpret_cast<cleave_control_pinned*>(entries<char>(control.file->replay_pinned) +
                                                         thread->pinned_at);
  return entry->thread == thread->request ? entry : nullptr;
}

void log_pinned(ControlThread* thread, cleave_pinned source, const void* bytes, uint64_t size) {
  cleave_control_area& area = control.file->pinned;
  uint64_t whole = sizeof(cleave_control_pinned) + ((size + kPadding) & ~kPadding);
  if (area.used + whole > area.capacity) {
    control.file->end = CLEAVE_END_FULL;
    return;
  }
  char* place = entries<char>(area) + area.used;
  auto* entry = reinterpret_cast<cleave_control_pinned*>(place);
  entry->thread = thread->index;
  entry->source = static_cast<uint16_t>(source);
  entry->bytes = size;
  memcpy(place + sizeof *entry, bytes, size);
  area.used += whole;
}

}  // namespace

bool attach_control_file(const char* path) {
  long descriptor = system_call(SYS_open, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  long size = system_call(SYS_lseek, descriptor, 0, 2 /* end */);
  long address = size < static_cast<long>(sizeof(cleave_control_header))
                     ? -1
                     : system_call(SYS_mmap, place_for(static_cast<size_t>(size), Purpose::Asked), size, 3,
                                   1 /* shared */, descriptor, 0);
  system_call(SYS_close, descriptor);
  if (address < 0 && address > -4096) return false;
  auto* file = reinterpret_cast<cleave_control_header*>(address);
  uint32_t nobody = 0;
  bool mine = file->magic == CLEAVE_CONTROL_MAGIC && file->version == CLEAVE_CONTROL_VERSION &&
              __atomic_compare_exchange_n(&file->process, &nobody, static_cast<uint32_t>(current_pid()),
                                          false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  if (!mine) {  // a program that a controlled program started: it runs as it likes
    system_call(SYS_munmap, address, size);
    return false;
  }
  system_call(SYS_madvise, address, size, 16 /* not into core dumps */);
  control.file = file;
  modules = static_cast<KnownModule*>(map_memory(kModules * sizeof(KnownModule)));
  return modules != nullptr;
}

void log_thread(ControlThread* thread) {
  if (auto* entry = append<cleave_control_thread>(control.file->threads))
    *entry = {thread->parent, thread->ordinal, 0};
}

void log_fingerprint(ControlThread* thread, uint64_t chain, Point what, const cleave_segment* segment) {
  auto fingerprint = static_cast<uint8_t>(chain >> 56);
  if (control.replaying) replay_fingerprint(thread, fingerprint, thread->grouped, what, segment);
  thread->grouped = 0;
  cleave_control_area& area = control.file->fingerprints;
  if (area.used < area.capacity)
    entries<uint8_t>(area)[area.used++] = fingerprint;
  else
    control.file->end = CLEAVE_END_FULL;
}

void log_run(ControlThread* thread, uint32_t how) {
  if (thread->grouped != 0)
    log_fingerprint(thread, thread->counted_chain, CLEAVE_POINT_access, thread->place);
  if (auto* entry = append<cleave_control_run>(control.file->runs))
    *entry = {thread->index, how, thread->run_points};
  else
    control.file->end = CLEAVE_END_FULL;
  thread->run_points = 0;
  thread->rest_at = control.longest_run;
}

void locate(const cleave_segment* segment, uint32_t* module, uint32_t* index) {
  uint32_t count = module_count.load(std::memory_order_acquire);
  for (uint32_t i = count;
       segment != nullptr && i-- > 0;) {  // the newest first: an unloaded one may lie beneath it
    const KnownModule& known = modules[i];
    if (segment >= known.first && segment < known.first + known.count) {
      *module = i;
      *index = static_cast<uint32_t>(segment - known.first);
      return;
    }
  }
  *module = CLEAVE_NO_PLACE;
  *index = 0;
}

void fill_step(cleave_control_step* step, ControlThread* thread, Point point, const cleave_segment* segment) {
  step->operation = point;
  step->thread = thread->index;
  step->value = thread->value;
  locate(segment != nullptr ? segment : thread->place, &step->module, &step->segment);
}

void log_module(const cleave_module* module) {
  uint32_t index = module_count.load(std::memory_order_relaxed);
  if (index >= kModules) return;
  modules[index] = {module->segments, module->segment_count};
  if (control.replaying) {
    const auto* recorded = entries<cleave_control_module>(control.file->replay_modules);
    if (index >= count_of<cleave_control_module>(control.file->replay_modules) ||
        recorded[index].identity != module->identity)
      diverged(CLEAVE_DIVERGED_BUILD, nullptr, CLEAVE_POINT_none, nullptr);
  }
  if (auto* entry = append<cleave_control_module>(control.file->modules)) {
    entry->identity = module->identity;
    size_t length = strlen(module->name);
    size_t skip = length < sizeof entry->name ? 0 : length - sizeof entry->name + 1;
    memcpy(entry->name, module->name + skip, length - skip + 1);
  }
  module_count.store(index + 1, std::memory_order_release);
}

void pin(ControlThread* thread, cleave_pinned source, void* bytes, uint64_t size) {
  ensure_turn(thread);
  if (control.replaying) {
    cleave_control_pinned* entry = next_pinned(thread);
    if (entry == nullptr || entry->source != source || entry->bytes != size) {
      // Behind the end of what was recorded (a run that was killed) there is nothing to give back, and nobody
      // to ask.
      if (entry == nullptr &&
          control.replay_run + 1 >= count_of<cleave_control_run>(control.file->replay_runs)) {
        if (source != CLEAVE_PINNED_INPUT) return;
        diverged(CLEAVE_DIVERGED_LONGER, thread, CLEAVE_POINT_call_out, nullptr);
      }
      diverged(CLEAVE_DIVERGED_PINNED, thread, CLEAVE_POINT_none, nullptr,
               entry == nullptr ? source : source | static_cast<uint64_t>(entry->source) << 16);
    }
    memcpy(bytes, entry + 1, size);
    thread->pinned_at += sizeof *entry + ((size + kPadding) & ~kPadding);
  }
  log_pinned(thread, source, bytes, size);
  scrub_stack<kShallow>();
}

uint32_t pin_choice(ControlThread* thread, uint32_t choice) {
  pin(thread, CLEAVE_PINNED_CHOICE, &choice, sizeof choice);
  return choice;
}

}  // namespace cleave::runtime
