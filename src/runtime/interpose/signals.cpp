#include "runtime/interpose/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/interpose/real.h"
#include "runtime/record/file.h"
#include "runtime/record/state.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {
namespace {

constexpr int kSignals = 65;

// Signals whose default is to end the process.
constexpr int kFatal[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT, SIGBUS,  SIGFPE,
                          SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM,   SIGTERM, SIGXCPU, SIGVTALRM,
                          SIGPROF, SIGIO,   SIGSYS,  SIGXFSZ, SIGSTKFLT, SIGPWR};

struct sigaction actions[kSignals];  // what the program asked for; all zero: SIG_DFL
bool caught[kSignals];               // ours is installed for the default action
SpinLock actions_lock;
std::atomic<int> dying{0};  // tid of the thread that ends the trace after a fatal signal

bool is_fatal(int signal) {
  for (int fatal : kFatal)
    if (fatal == signal) return true;
  return false;
}

void set_default(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  REAL(sigaction)(signal, &action, nullptr);
}

// The record goes into the slack behind the buffer: flushing a half-written record is what this is about to
// prevent.
void record_fault(Thread* thread, int signal, const siginfo_t* information) {
  if (__cleave_thread.cursor == nullptr) return;
  uint64_t* place = repair(*thread->stream, __cleave_thread.cursor);
  if (place < thread->stream->base || place > thread->stream->end + kSlackWords - 8) return;
  place[0] = kRecord_fault | __cleave_thread.branches << CLEAVE_HEADER_ADDRESS_BITS;
  place[1] = static_cast<uint64_t>(signal);
  place[2] = information->si_code > 0 ? word_of(information->si_addr) : 0;
  place[3] = stamp_now();
  __cleave_thread.cursor = place + 4;
  __cleave_thread.branches = CLEAVE_BRANCHES_NONE;
}

// Of the instruction that was interrupted, which cannot go on.
bool is_fault(int signal, const siginfo_t* information) {
  constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
  for (int fault : kFaults)
    if (fault == signal) return information->si_code > 0;
  return false;
}

// The scheduler is at work on this thread (SignalsBlocked), or its buffer is being written, which a jump or
// the end must not leave half done: all signals wait until that is over, this one too.
bool defer(int signal, siginfo_t* information, void* context) {
  ControlThread* self = controlled;
  Thread* thread = current_thread;
  bool scheduling = self != nullptr && self->busy != 0, flushing = thread != nullptr && thread->flushing;
  if ((!scheduling && !flushing) || is_fault(signal, information)) return false;
  auto* mask = reinterpret_cast<uint64_t*>(&static_cast<ucontext_t*>(context)->uc_sigmask);
  bool& waits = scheduling ? self->deferred : thread->signals_wait;
  if (!waits) (scheduling ? self->deferred_mask : thread->signal_mask) = *mask;
  waits = true;
  *mask = ~UINT64_C(0);
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(mask), 0,
              sizeof *mask);  // from here on, not only after it
  system_call(SYS_rt_tgsigqueueinfo, current_pid(), current_tid(), signal,
              reinterpret_cast<long>(information));
  return true;
}

void fatal_signal(int signal, siginfo_t* information, void* context) {
  int tid = current_tid();
  if (signal == SIGXFSZ && current_thread != nullptr &&
      current_thread->stream->claimed.load() == Claim::Owner)
    return;  // our own write met the limit on file sizes: it says so itself, and the program is not to die of
             // it
  if (defer(signal, information, context)) return;
  int nobody = 0;
  if (!dying.compare_exchange_strong(nobody, tid) && nobody != tid)
    for (;;) system_call(SYS_pause);  // the other thread is at it, and ends the process
  if (nobody == 0 && state.mode.load() == Mode::Recording) {
    if (state.controlled) control_crashed();
    if (current_thread != nullptr) record_fault(current_thread, signal, information);
    finish(Way::Crash, "signal", "signal", signal);
  }
  set_default(signal);
  // A fault happens again on return, with the registers of the first time for whoever looks at the core.
  bool again = is_fault(signal, information) && signal != SIGTRAP && signal != SIGSYS;
  if (!again) system_call(SYS_tgkill, current_pid(), tid, signal);
}

void install_fatal(int signal) {
  struct sigaction action{};
  action.sa_sigaction = fatal_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  REAL(sigaction)(signal, &action, nullptr);
  caught[signal] = true;
}

Stream* enter_handler(Thread* thread, int signal, uintptr_t frame) {
  uint32_t depth = thread->handler_depth;
  Stream* below = thread->stream;
  below->saved = __cleave_thread;
  below->block.store(&below->saved, std::memory_order_release);
  bool fresh = thread->handlers[depth] == nullptr;
  if (fresh) thread->handlers[depth] = acquire_thread(state.next_number.fetch_add(1), below->number);
  thread->handler_frames[depth] = frame;
  thread->handler_depth = depth + 1;
  Stream* own = &thread->handlers[depth]->main;
  make_current(thread, own);
  if (fresh) record(kRecord_thread_start, own->number, own->parent, stamp_now());
  record(kRecord_handler_begin, signal, below->number, stamp_now());
  return below;
}

void leave_handler(Thread* thread) {
  if (recording()) record(kRecord_handler_end, stamp_now());
  uint32_t depth = --thread->handler_depth;
  Stream* own = &thread->handlers[depth]->main;
  own->saved = __cleave_thread;
  own->block.store(&own->saved, std::memory_order_release);
  make_current(thread, depth == 0 ? &thread->main : &thread->handlers[depth - 1]->main);
}

void call_program(const struct sigaction& action, int signal, siginfo_t* information, void* context) {
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(signal, information, context);
  else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
    action.sa_handler(signal);
}

// What the system does for SA_RESETHAND.
void reset_action(int signal) {
  memset(&actions[signal], 0, sizeof actions[signal]);
  if (is_fatal(signal))
    install_fatal(signal);
  else
    set_default(signal);
}

// Runs in place of the program's handler. What it interrupted may be in the middle of a record: the handler
// gets a stream of its own, and the interrupted one goes on where it was.
void program_handler(int signal, siginfo_t* information, void* context) {
  if (defer(signal, information, context)) return;
  struct sigaction action = actions[signal];
  if (action.sa_flags & SA_RESETHAND) reset_action(signal);
  Thread* thread = current_thread;
  if (!recording() || thread == nullptr || thread->handler_depth == kHandlerDepth) {
    Quiet quiet;
    return call_program(action, signal, information, context);
  }
  int saved_errno = errno;
  enter_handler(thread, signal, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  errno = saved_errno;
  call_program(action, signal, information, context);
  if (current_thread == thread && thread->handler_depth > 0) leave_handler(thread);
}

// What the kernel is to have for what the program wants.
struct sigaction translate(int signal, const struct sigaction& wanted) {
  struct sigaction action = wanted;
  caught[signal] = false;
  if (!(wanted.sa_flags & SA_SIGINFO) && wanted.sa_handler == SIG_IGN) return action;
  if (!(wanted.sa_flags & SA_SIGINFO) && wanted.sa_handler == SIG_DFL) {
    if (!is_fatal(signal)) return action;
    caught[signal] = true;
    action.sa_sigaction = fatal_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    return action;
  }
  action.sa_sigaction = program_handler;
  action.sa_flags |= SA_SIGINFO;
  action.sa_flags &=
      ~static_cast<int>(SA_RESETHAND);  // program_handler does it, when the handler has really been called
  return action;
}

int set_action(int signal, const struct sigaction* wanted, struct sigaction* previous) {
  if (signal <= 0 || signal >= kSignals || state.mode.load() != Mode::Recording)
    return REAL(sigaction)(signal, wanted, previous);
  bool handled = wanted != nullptr && ((wanted->sa_flags & SA_SIGINFO) ||
                                       (wanted->sa_handler != SIG_DFL && wanted->sa_handler != SIG_IGN));
  if (handled && state.controlled) no_stretches();  // it may come in the middle of one
  SignalSafeLock lock(actions_lock);
  struct sigaction kernels{};
  int result = REAL(sigaction)(signal, nullptr, &kernels);
  if (result != 0) return result;
  bool ours = (kernels.sa_flags & SA_SIGINFO) &&
              (kernels.sa_sigaction == fatal_signal || kernels.sa_sigaction == program_handler);
  struct sigaction before = ours ? actions[signal] : kernels;
  if (wanted != nullptr) {
    struct sigaction asked = *wanted;
    struct sigaction action = translate(signal, asked);
    actions[signal] = asked;  // before the kernel knows of ours, which looks here
    result = REAL(sigaction)(signal, &action, nullptr);
    if (result != 0) actions[signal] = before;
  }
  if (result == 0 && previous != nullptr) *previous = before;
  return result;
}

uintptr_t demangled(uintptr_t pointer) {
  uintptr_t guard;
  __asm__("ror $17, %0\n\txor %%fs:0x30, %0" : "=r"(guard) : "0"(pointer));
  return guard;
}

// Whether a jump to stack pointer `target` leaves the handler that was entered at `frame`.
bool jump_leaves(uintptr_t target, uintptr_t frame) {
  stack_t alternate{};
  system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&alternate));
  auto within = [&](uintptr_t address) {
    auto from = reinterpret_cast<uintptr_t>(alternate.ss_sp);
    return address >= from && address < from + alternate.ss_size;
  };
  return within(target) != within(frame) || target > frame;
}

void before_jump(sigjmp_buf place) {
  Thread* thread = current_thread;
  if (thread == nullptr || thread->handler_depth == 0) return;
  constexpr int kStackPointer = 6;  // in glibc's register buffer
  uintptr_t target = demangled(static_cast<uintptr_t>(place[0].__jmpbuf[kStackPointer]));
  while (thread->handler_depth > 0 &&
         jump_leaves(target, thread->handler_frames[thread->handler_depth - 1])) {
    leave_handler(thread);
    drop_stripe(*thread->stream);
    __cleave_thread.cursor = repair(*thread->stream, __cleave_thread.cursor);
  }
}

sighandler_t set_handler(int signal, sighandler_t handler, int flags) {
  struct sigaction wanted{}, previous{};
  wanted.sa_handler = handler;
  wanted.sa_flags = flags;
  return set_action(signal, &wanted, &previous) == 0 ? previous.sa_handler : SIG_ERR;
}

}  // namespace

void catch_fatal_signals() {
  for (int signal : kFatal) {
    struct sigaction before{};
    if (REAL(sigaction)(signal, nullptr, &before) == 0 && !(before.sa_flags & SA_SIGINFO) &&
        before.sa_handler == SIG_DFL)
      install_fatal(signal);
  }
}

void use_signal_stack(Thread* thread) {
  stack_t before{};
  system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&before));
  if (!(before.ss_flags & SS_DISABLE)) return;
  stack_t wanted{};
  wanted.ss_sp = thread->signal_stack;
  wanted.ss_size = kSignalStack;
  system_call(SYS_sigaltstack, reinterpret_cast<long>(&wanted), 0);
}

void leave_signal_stack(Thread* thread) {
  stack_t now{};
  system_call(SYS_sigaltstack, 0, reinterpret_cast<long>(&now));
  if (now.ss_sp != thread->signal_stack) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  system_call(SYS_sigaltstack, reinterpret_cast<long>(&none), 0);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int sigaction(int signal, const struct sigaction* wanted, struct sigaction* previous) {
  return set_action(signal, wanted, previous);
}
INTERPOSE sighandler_t signal(int signal, sighandler_t handler) {
  return set_handler(signal, handler, SA_RESTART);
}
INTERPOSE sighandler_t bsd_signal(int signal, sighandler_t handler) {
  return set_handler(signal, handler, SA_RESTART);
}
INTERPOSE sighandler_t sysv_signal(int signal, sighandler_t handler) {
  return set_handler(signal, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
INTERPOSE sighandler_t __sysv_signal(int signal, sighandler_t handler) {
  return sysv_signal(signal, handler);
}

INTERPOSE void siglongjmp(sigjmp_buf place, int value) {
  before_jump(place);
  REAL(siglongjmp)(place, value);
  __builtin_unreachable();
}
INTERPOSE void longjmp(jmp_buf place, int value) { siglongjmp(place, value); }
INTERPOSE void _longjmp(jmp_buf place, int value) { siglongjmp(place, value); }
INTERPOSE void __longjmp_chk(sigjmp_buf place, int value) {
  before_jump(place);
  REAL(__longjmp_chk)(place, value);
  __builtin_unreachable();
}
