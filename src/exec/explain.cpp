#include "exec/explain.h"

#include <fmt/format.h>

namespace cleave::exec {
namespace {

std::string_view word_of_point(uint32_t point) {
  switch (point) {
#define CLEAVE_POINT(name, number, word, sync) \
  case number:                                 \
    return word;
#include "abi/control_points.def"
#undef CLEAVE_POINT
    default:
      return "step";
  }
}

std::string_view word_of_source(uint64_t source) {
  switch (source) {
    case CLEAVE_PINNED_TIME:
      return "the time";
    case CLEAVE_PINNED_RANDOM:
      return "random bytes";
    case CLEAVE_PINNED_THREAD_ID:
      return "a thread id";
    case CLEAVE_PINNED_CHOICE:
      return "a choice of the scheduler";
    case CLEAVE_PINNED_INPUT:
      return "what came from outside";
    default:
      return "nothing";
  }
}

std::string path_at(const std::vector<std::string>& paths, uint32_t thread) {
  return thread < paths.size() ? paths[thread] : "?";
}

std::string object_name(const ProgramTables& tables, uint64_t address) {
  std::string name = tables.name_of(address);
  return name.empty() ? fmt::format("0x{:x}", address) : name;
}

std::string place_of(const ProgramTables& tables, const std::vector<ModuleIdentity>& modules, uint32_t module,
                     uint32_t segment, bool its_end) {
  if (module >= modules.size()) return "";
  std::string text = tables.describe(modules[module].identity, segment, its_end);
  return text.empty() ? modules[module].name : text;
}

// "waits to lock m", "waits on condition c", …
std::string what_it_waits_for(const cleave_control_wait& wait, const std::vector<std::string>& paths,
                              const ProgramTables& tables) {
  std::string name = object_name(tables, wait.object);
  switch (wait.operation) {
    case 0:
      return "could go on";
    case CLEAVE_WAIT_HELD:
      return "is held by the plan";
    case CLEAVE_POINT_call_out:
      return "is in a system call";
    case CLEAVE_POINT_lock:
      return fmt::format("waits for the mutex {}", name);
    case CLEAVE_POINT_trylock:
      return fmt::format("waits for the spin lock {}", name);
    case CLEAVE_POINT_read_lock:
      return fmt::format("waits to read under the reader-writer lock {}", name);
    case CLEAVE_POINT_write_lock:
      return fmt::format("waits to write under the reader-writer lock {}", name);
    case CLEAVE_POINT_wait:
      return fmt::format("waits on the condition {}", name);
    case CLEAVE_POINT_down:
      return fmt::format("waits for the semaphore {}", name);
    case CLEAVE_POINT_barrier:
      return fmt::format("waits at the barrier {}", name);
    case CLEAVE_POINT_once:
      return fmt::format("waits for the initialisation of {}", name);
    case CLEAVE_POINT_join:
      return fmt::format("joins thread {}", path_at(paths, wait.holder));
    case CLEAVE_POINT_futex_wait:
      return fmt::format("waits on the atomic {}", name);
    default:
      return fmt::format("waits in {}", word_of_point(wait.operation));
  }
}

std::string step_text(const Step& step, const std::vector<ModuleIdentity>& modules,
                      const ProgramTables& tables) {
  std::string place = place_of(tables, modules, step.module, step.segment, false);
  std::string text(word_of_point(step.operation));
  return place.empty() ? text : fmt::format("{}, {}", text, place);
}

}  // namespace

std::string explain_waits(const ControlFile& file, const ProgramTables& tables, bool* lost_wake_up) {
  std::string text;
  *lost_wake_up = false;
  std::vector<std::string> paths = file.thread_paths();
  std::vector<ModuleIdentity> modules = file.modules();
  for (const cleave_control_wait& wait : file.waits()) {
    text += fmt::format("thread {} {}", path_at(paths, wait.thread), what_it_waits_for(wait, paths, tables));
    if (wait.operation != CLEAVE_POINT_join && wait.holder < paths.size())
      text += wait.holder == wait.thread ? ", which it has itself"
                                         : fmt::format(", which thread {} has", paths[wait.holder]);
    if (std::string place = place_of(tables, modules, wait.module, wait.segment, true); !place.empty())
      text += fmt::format(": {}", place);
    text += "\n";
    if (wait.lost_by >= paths.size()) continue;
    *lost_wake_up = true;
    std::string place = place_of(tables, modules, wait.lost_module, wait.lost_segment, true);
    text += fmt::format(
        "  lost wake-up: the last signal of that condition, by thread {}{}{}, came when nobody waited\n",
        paths[wait.lost_by], place.empty() ? "" : ": ", place);
  }
  return text;
}

std::string explain_divergence(const ControlFile& file, const ProgramTables& tables,
                               const Schedule& recorded) {
  const cleave_control_header& header = file.header();
  std::vector<std::string> paths = file.thread_paths();
  uint64_t at = header.diverged_point;
  std::string thread = path_at(paths, header.diverged_thread);
  const cleave_control_step& now_raw = header.diverged_now;
  Step now{static_cast<uint16_t>(now_raw.operation), now_raw.module, now_raw.segment, now_raw.value};
  std::string now_text = step_text(now, file.modules(), tables);
  std::string then_text = "only its fingerprint was kept";
  bool known = at < recorded.steps.size();
  if (known) then_text = step_text(recorded.steps[at], recorded.modules, tables);
  std::string where = fmt::format("after {} points that agree, thread {}", at, thread);
  switch (header.divergence) {
    case CLEAVE_DIVERGED_BUILD:
      return "the schedule belongs to another program or another build";
    case CLEAVE_DIVERGED_STEP:
      if (header.diverged_detail > 1)
        return fmt::format(
            "after {} points that agree, thread {} at one of its next {}\n  recorded: {}\n  now:      at the "
            "last {}",
            at, thread, header.diverged_detail, then_text, now_text);
      if (known && now_text == then_text && recorded.steps[at].value == now.value)
        return fmt::format("{}\n  recorded: {}\n  now:      the same, but it came there another way", where,
                           then_text);
      if (known && now_text == then_text)
        return fmt::format("{}\n  recorded: {}, before it value {}\n  now:      {}, before it value {}",
                           where, then_text, recorded.steps[at].value, now_text, now.value);
      return fmt::format("{}\n  recorded: {}\n  now:      {}", where, then_text, now_text);
    case CLEAVE_DIVERGED_BLOCKED:
      return fmt::format("{}\n  recorded: it goes on for {} points\n  now:      it has to wait ({})", where,
                         header.diverged_detail, now_text);
    case CLEAVE_DIVERGED_RUNNING:
      return fmt::format("{}\n  recorded: it has to wait\n  now:      it goes on ({})", where, now_text);
    case CLEAVE_DIVERGED_THREAD:
      return fmt::format(
          "after {} points that agree\n  recorded: thread {} runs\n  now:      that thread {}", at,
          header.diverged_detail < recorded.threads.size() ? recorded.threads[header.diverged_detail] : "?",
          "does not exist or has ended");
    case CLEAVE_DIVERGED_LONGER:
      return fmt::format("{}\n  recorded: the end\n  now:      it goes on ({})", where, now_text);
    case CLEAVE_DIVERGED_PINNED:
      return fmt::format("{}\n  recorded: it was given {}\n  now:      it asks for {}", where,
                         word_of_source(header.diverged_detail >> 16),
                         word_of_source(header.diverged_detail & 0xffff));
    default:
      return where;
  }
}

std::string explain_plan(const ControlFile& file, const ProgramTables& tables, const Plan& plan) {
  const cleave_control_header& header = file.header();
  if (header.plan_reached >= plan.milestones.size() && header.plan_why == CLEAVE_PLAN_COMPLETE) return "";
  size_t next = std::min<size_t>(header.plan_reached, plan.milestones.size() - 1);
  std::string milestone = plan.milestones[next].sentence();
  bool lost = false;
  switch (header.plan_why) {
    case CLEAVE_PLAN_STUCK:
      return fmt::format("nobody could run towards: {}\n{}", milestone, explain_waits(file, tables, &lost));
    case CLEAVE_PLAN_SPINNING:
      return fmt::format("whoever could run only waited in a loop; missing: {}\n{}", milestone,
                         explain_waits(file, tables, &lost));
    case CLEAVE_PLAN_THREAD_ENDED:
      return fmt::format("thread {} ended before: {}", path_at(file.thread_paths(), header.plan_thread),
                         milestone);
    case CLEAVE_PLAN_VALUE:
      return fmt::format("the value was {} instead: {}", header.plan_value, milestone);
    default:
      return fmt::format("the program ended before: {}", milestone);
  }
}

}  // namespace cleave::exec
