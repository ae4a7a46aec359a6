#include "runtime/record/flow.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

#include "abi/flow.h"
#include "runtime/record/setting.h"
#include "runtime/record/state.h"
#include "runtime/record/system.h"

namespace cleave::runtime {
namespace {

// Room that is left for the chunk that says where the trace was cut.
constexpr uint64_t kLastChunk = 4096;
// Bytes after which a process looks whether the reader is still there, also when it need not wait.
constexpr uint64_t kLook = UINT64_C(16) << 20;

cleave_flow own_flow = {
    CLEAVE_FLOW_MAGIC, CLEAVE_FLOW_MOST_BYTES, CLEAVE_FLOW_NO_LIMIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
cleave_flow* flow = &own_flow;
char flow_path[64];
bool reader_is_ours = false;

uint64_t load(const uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
uint32_t load(const uint32_t& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }

// The page is reached through the tool's descriptor: that goes with the tool, also when nobody has waited for
// the dead process yet.
bool reader_is_gone() {
  long result = system_call(SYS_access, reinterpret_cast<long>(flow_path), 0);
  return result == -ENOENT || result == -ESRCH;
}

void end_with_reader() {
  for (;;) system_call(SYS_kill, current_pid(), SIGKILL);
}

bool too_far_ahead() {
  auto ahead = static_cast<int64_t>(load(flow->appended) - load(flow->consumed));
  return ahead > 0 && static_cast<uint64_t>(ahead) > load(flow->allowed_lag);
}

// What sleeping or spinning threads have in their buffers may be what the reader lacks.
void flush_others() {
  Thread* own = current_thread;
  for (Thread* thread = state.threads.load(std::memory_order_acquire); thread != nullptr;
       thread = thread->next)
    if (thread->live && (own == nullptr || &thread->main != own->stream))
      flush_other(thread->main, Extent::Settled, false);
}

void sleep_until_woken(uint32_t seen) {
  timespec limit{0, 100'000'000};
  system_call(SYS_futex, reinterpret_cast<long>(&flow->woken), FUTEX_WAIT, seen,
              reinterpret_cast<long>(&limit), 0, 0);
}

}  // namespace

bool attach_flow() {
  const char* path = setting(CLEAVE_FLOW_VARIABLE);
  if (path == nullptr || *path == 0) return true;
  if (strlen(path) >= sizeof flow_path) return false;
  long descriptor = system_call(SYS_open, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return false;
  long address = system_call(SYS_mmap, place_for(sizeof *flow), sizeof *flow, 3 /* read, write */,
                             1 /* shared */, descriptor, 0);
  system_call(SYS_close, descriptor);
  if (address < 0 && address > -4096) return false;
  auto* shared = reinterpret_cast<cleave_flow*>(address);
  if (shared->magic != CLEAVE_FLOW_MAGIC || load(shared->closed) != 0) return false;
  strcpy(flow_path, path);
  flow = shared;
  return true;
}

void write_for_the_reader(bool does) { reader_is_ours = does; }

void limit_by_free_space(int descriptor) {
  struct statfs facts{};
  if (flow != &own_flow || system_call(SYS_fstatfs, descriptor, reinterpret_cast<long>(&facts)) < 0) return;
  uint64_t half = static_cast<uint64_t>(facts.f_bavail) * static_cast<uint64_t>(facts.f_bsize) / 2;
  if (half < own_flow.most_bytes) own_flow.most_bytes = half;
}

bool wait_for_reader() {
  if (__builtin_expect(!reader_is_ours || load(flow->allowed_lag) == CLEAVE_FLOW_NO_LIMIT, 1)) return true;
  if (load(flow->closed) != 0) return false;
  if (!too_far_ahead()) return true;
  __atomic_add_fetch(&flow->waits, 1, __ATOMIC_RELAXED);
  __atomic_add_fetch(&flow->waiting, 1, __ATOMIC_SEQ_CST);
  bool closed = false;
  for (;;) {
    uint32_t seen = load(flow->woken);
    closed = load(flow->closed) != 0;
    if (closed || !too_far_ahead()) break;
    flush_others();  // again and again: one that ran on may by now wait for a lock that we hold
    sleep_until_woken(seen);
    if (reader_is_gone()) end_with_reader();
  }
  __atomic_sub_fetch(&flow->waiting, 1, __ATOMIC_SEQ_CST);
  return !closed;
}

bool take_bytes(uint64_t bytes, bool* first) {
  uint64_t before = __atomic_fetch_add(&flow->written, bytes, __ATOMIC_RELAXED);
  if (reader_is_ours) {
    __atomic_add_fetch(&flow->appended, bytes, __ATOMIC_RELAXED);
    bool look = before / kLook != (before + bytes) / kLook && load(flow->allowed_lag) != CLEAVE_FLOW_NO_LIMIT;
    if (look && load(flow->closed) == 0 && reader_is_gone()) end_with_reader();
  }
  uint64_t most = load(flow->most_bytes);
  if (most == CLEAVE_FLOW_NO_LIMIT || before + bytes + kLastChunk <= most) return true;
  *first = __atomic_exchange_n(&flow->cut, 1, __ATOMIC_ACQ_REL) == 0;
  return false;
}

void count_records(uint64_t records) { __atomic_add_fetch(&flow->records, records, __ATOMIC_RELAXED); }
uint64_t most_bytes() { return load(flow->most_bytes); }

}  // namespace cleave::runtime
