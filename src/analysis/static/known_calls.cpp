#include "analysis/static/known_calls.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>

namespace cleave::static_analysis {

using namespace llvm;

namespace {

KnownCall on(CallKind kind, int operand) { return {kind, operand}; }

using Table = StringMap<KnownCall>;

void add(Table& table, const KnownCall& call, std::initializer_list<const char*> names) {
  for (const char* name : names) table[name] = call;
}

void add_locks(Table& table) {
  add(table, on(CallKind::Acquire, 0),
      {"pthread_mutex_lock", "pthread_rwlock_wrlock", "pthread_spin_lock", "mtx_lock", "omp_set_lock",
       "omp_set_nest_lock", "pthread_mutex_timedlock", "pthread_mutex_clocklock", "mtx_timedlock"});
  add(table, on(CallKind::Acquire, 2), {"__kmpc_critical", "__kmpc_critical_with_hint"});
  add(table, on(CallKind::AcquireShared, 0), {"pthread_rwlock_rdlock"});
  add(table, on(CallKind::TryAcquire, 0),
      {"pthread_mutex_trylock", "pthread_rwlock_trywrlock", "pthread_rwlock_tryrdlock",
       "pthread_spin_trylock", "mtx_trylock"});
  KnownCall nonzero = on(CallKind::TryAcquire, 0);
  nonzero.success_is_zero = false;
  add(table, nonzero, {"omp_test_lock"});
  add(table, on(CallKind::Release, 0),
      {"pthread_mutex_unlock", "pthread_rwlock_unlock", "pthread_spin_unlock", "mtx_unlock", "omp_unset_lock",
       "omp_unset_nest_lock"});
  add(table, on(CallKind::Release, 2), {"__kmpc_end_critical"});
  add(table, on(CallKind::Wait, 1),
      {"pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait",
       "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE"});
}

void add_threads(Table& table) {
  KnownCall start{CallKind::StartThread, 0};
  start.routine = 2, start.argument = 3;
  add(table, start, {"pthread_create"});
  start.routine = 1, start.argument = 2;
  add(table, start, {"thrd_create"});
  add(table, on(CallKind::StartState, 1),
      {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE"});
  KnownCall team{CallKind::StartTeam};
  team.routine = 2, team.argument = 3;
  add(table, team, {"__kmpc_fork_call"});
  add(table, on(CallKind::Join, 0),
      {"pthread_join", "thrd_join", "_ZNSt6thread4joinEv", "pthread_tryjoin_np", "pthread_timedjoin_np"});
}

void add_memory(Table& table) {
  add(table, on(CallKind::Allocate, -1),
      {"malloc", "calloc", "_Znwm", "_Znam", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t",
       "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "aligned_alloc", "memalign", "strdup", "strndup",
       "__strdup", "valloc", "__cxa_allocate_exception"});
  add(table, on(CallKind::Reallocate, 0), {"realloc", "reallocarray"});
  add(table, on(CallKind::Free, 0),
      {"free", "cfree", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm", "_ZdlPvSt11align_val_t",
       "_ZdlPvmSt11align_val_t", "__cxa_free_exception"});
  KnownCall once{CallKind::Once, 0};
  once.routine = 1;
  add(table, once, {"pthread_once", "call_once"});
  add(table, on(CallKind::Owns, 0), {"__cleave_owns"});
  add(table, on(CallKind::UnitBegin, -1), {"__cleave_mark_unit_begin"});
  add(table, on(CallKind::UnitEnd, -1), {"__cleave_mark_unit_end"});
  add(table, on(CallKind::Copy, 0), {"memcpy", "memmove", "mempcpy"});
  add(table, on(CallKind::Fill, 0), {"memset", "bzero"});
  add(table, on(CallKind::ReturnsFirst, 0),
      {"strcpy", "strcat", "strncpy", "strncat", "strchr", "strrchr", "strstr", "memchr", "strpbrk"});
}

void add_harmless(Table& table) {
  add(table, on(CallKind::Harmless, -1),
      {"printf",
       "fprintf",
       "puts",
       "putchar",
       "fputs",
       "fputc",
       "fwrite",
       "fflush",
       "perror",
       "usleep",
       "sleep",
       "nanosleep",
       "sched_yield",
       "pthread_cond_signal",
       "pthread_cond_broadcast",
       "cnd_signal",
       "cnd_broadcast",
       "_ZNSt18condition_variable10notify_oneEv",
       "_ZNSt18condition_variable10notify_allEv",
       "strcmp",
       "strncmp",
       "memcmp",
       "strlen",
       "strtol",
       "strtoul",
       "strtoull",
       "atoi",
       "exit",
       "abort",
       "_exit",
       "_ZSt9terminatev",
       "pthread_mutex_init",
       "pthread_mutex_destroy",
       "pthread_cond_init",
       "pthread_cond_destroy",
       "clock_gettime",
       "gettimeofday",
       "time",
       "rand",
       "random",
       "getpid",
       "pthread_self",
       "_ZSt20__throw_system_errori",
       "__errno_location",
       "__cxa_guard_release",
       "__cxa_guard_abort",
       "pthread_detach",
       "signal",
       "alarm"});
}

const Table& table() {
  static const Table known = [] {
    Table all;
    add_locks(all);
    add_threads(all);
    add_memory(all);
    add_harmless(all);
    return all;
  }();
  return known;
}

}  // namespace

KnownCall known_call(const CallBase& call) {
  const auto* callee = dyn_cast<Function>(call.getCalledOperand()->stripPointerCasts());
  if (callee == nullptr || !callee->isDeclaration()) return {};
  if (isa<MemTransferInst>(call)) return on(CallKind::Copy, 0);
  if (isa<MemSetInst>(call)) return on(CallKind::Fill, 0);
  if (callee->isIntrinsic()) return on(CallKind::Harmless, -1);
  auto found = table().find(callee->getName());
  return found == table().end() ? KnownCall{} : found->second;
}

}  // namespace cleave::static_analysis
