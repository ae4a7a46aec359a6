// Following a recorded schedule exactly. Every point is compared with the recorded one by its fingerprint,
// every hand-over by who and why; the first difference ends the process, and the tool shows both sides.
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

const cleave_control_run* run_now() {
  uint64_t count = count_of<cleave_control_run>(control.file->replay_runs);
  return control.replay_run < count
             ? entries<cleave_control_run>(control.file->replay_runs) + control.replay_run
             : nullptr;
}

bool last_run() { return control.replay_run + 1 >= count_of<cleave_control_run>(control.file->replay_runs); }

}  // namespace

void diverged(cleave_divergence how, ControlThread* thread, Point what, const cleave_segment* segment,
              uint64_t detail) {
  cleave_control_header* file = control.file;
  file->divergence = how;
  file->diverged_thread = thread != nullptr ? thread->index : CLEAVE_NO_PLACE;
  file->diverged_point = file->points;  // points that agreed
  file->diverged_detail = detail;
  if (thread != nullptr) fill_step(&file->diverged_now, thread, what, segment);
  end_process(CLEAVE_END_DIVERGED);
}

void replay_point(ControlThread* self, Point what, const cleave_segment* segment) {
  const cleave_control_run* run = run_now();
  // A crash between two legs that have stored nothing but zeros: how far the thread came then is not known.
  bool cut_off = run != nullptr && last_run() && segment != nullptr && segment == self->open_leg &&
                 segment == self->place + 1;
  if (cut_off && self->run_points > run->points) return;
  if (run == nullptr || self->run_points > run->points) {
    if (run != nullptr && run->how == CLEAVE_RUN_TAKEN && !last_run()) {
      // Then it slept in a call for so long that it lost the turn; now it came through. Same point, next run.
      --self->run_points;
      SignalsBlocked blocked;
      enter_scheduler();
      log_run(self, CLEAVE_RUN_TAKEN);
      ControlThread* next = replay_next();
      give_turn(next);
      leave_scheduler();
      await_turn(self);
      ++self->run_points;
      return replay_point(self, what, segment);
    }
    diverged(run == nullptr || last_run() ? CLEAVE_DIVERGED_LONGER : CLEAVE_DIVERGED_RUNNING, self, what,
             segment);
  }
}

void replay_fingerprint(ControlThread* self, uint8_t fingerprint, uint32_t points, Point what,
                        const cleave_segment* segment) {
  const cleave_control_area& recorded = control.file->replay_fingerprints;
  uint64_t at = control.file->fingerprints.used;
  // Behind the last one: a crash has cut the recording off within a group.
  if (at >= recorded.used || entries<uint8_t>(recorded)[at] == fingerprint) return;
  control.file->points = control.points.load(std::memory_order_relaxed) - points;
  diverged(CLEAVE_DIVERGED_STEP, self, what, segment, points);
}

bool replay_preempts(ControlThread* self) {
  const cleave_control_run* run = run_now();
  return run->how == CLEAVE_RUN_PREEMPTED && self->run_points == run->points && !last_run();
}

// Whether there was a drain is not in the schedule; that it gave the turn away here is.
bool replay_drains(const ControlThread* self) {
  const cleave_control_run* run = run_now();
  return run != nullptr && run->how != CLEAVE_RUN_PREEMPTED && run->points == self->run_points && !last_run();
}

bool replay_takes_turn(const ControlThread* holder) {
  const cleave_control_run* run = run_now();
  return run != nullptr && run->how == CLEAVE_RUN_TAKEN && holder->run_points == run->points && !last_run();
}

void replay_gives_away(ControlThread* self, Point what) {
  const cleave_control_run* run = run_now();
  if (run == nullptr || last_run()) return;  // how the last run went on was not recorded
  bool same = run->points == self->run_points && run->how != CLEAVE_RUN_PREEMPTED;
  if (!same) diverged(CLEAVE_DIVERGED_BLOCKED, self, what, nullptr, run->points - self->run_points);
}

ControlThread* replay_next() {
  if (last_run()) {
    // The recording ends here, and so did the program then, or it was stopped. Let it end in order of
    // creation.
    control.file->divergence = CLEAVE_DIVERGED_LONGER;
    ControlThread* next = control.ready_count != 0 ? next_in_turn(nullptr) : nullptr;
    bool stuck = control.outside == 0 ? control.ended != control.thread_count : waits_in_circle();
    if (next == nullptr && stuck) end_process(CLEAVE_END_DEADLOCK);
    return next;
  }
  ++control.replay_run;
  const cleave_control_run* run = run_now();
  ControlThread* next = control.by_request[run->thread];
  if (next == nullptr || next->standing == Standing::Ended)
    diverged(CLEAVE_DIVERGED_THREAD, nullptr, CLEAVE_POINT_none, nullptr, run->thread);
  if (next->standing == Standing::Waiting) force_ready(next);
  if (next->standing == Standing::Outside) {
    --control.outside;
    make_ready(next);
  }
  return next;
}

}  // namespace cleave::runtime
