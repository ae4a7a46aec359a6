// The ends of a process other than exit(), and its children.
//
// A child of fork starts with an empty buffer and a file of its own, TRACE.PID, made when it has something to
// write: a child that only executes another program leaves none. It begins with the locks that the forking
// thread holds and the once routines that it is in, since the child may end them. vfork is fork: its child
// would otherwise write into the parent's buffers. posix_spawn, system and popen run no instrumented code in
// the child.
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/interpose/once.h"
#include "runtime/interpose/process.h"
#include "runtime/interpose/process_text.h"
#include "runtime/interpose/real.h"
#include "runtime/record/file.h"
#include "runtime/record/state.h"
#include "runtime/record/stripes.h"
#include "runtime/schedule/control.h"

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void* library);

namespace cleave::runtime {
namespace {

void restart_stream(Stream& stream, cleave_thread_block& block) {
  make_unwritten(stream.base, stream.end + kSlackWords);
  stream.flushed = stream.base;
  stream.sequence = 0;
  stream.claimed.store(Claim::Free);
  block = {stream.base, nullptr, CLEAVE_BRANCHES_NONE};
  stream.block.store(&block);
}

// The first of all child handlers, since it was registered first: nothing instrumented has run in the child.
void child_starts() {
  stop_control_in_child();
  if (state.mode.load() != Mode::Recording) return;
  Thread* own = current_thread;
  reset_after_fork();
  reset_encoders();
  reset_stripes();
  redirect_to_child_file();
  if (trace_is_of_one_process()) state.mode.store(Mode::Off);  // nobody reads what a child writes then
  if (own == nullptr) return;
  for (uint32_t i = 0; i < own->handler_depth; ++i) {
    Stream& stream = own->handlers[i]->main;
    own->handlers[i]->live = true;
    stream.number = state.next_number.fetch_add(1);
    restart_stream(stream, &stream == own->stream ? __cleave_thread : stream.saved);
  }
  restart_stream(own->main, own->stream == &own->main ? __cleave_thread : own->main.saved);
  if (own->stream != &own->main) return;
  record(kRecord_thread_start, 0, kNobody, stamp_now());
  for (uint32_t i = 0; i < own->held_count; ++i) {
    uint64_t ticket = take_ticket(own->held[i].object);
    record(own->held[i].lock, word_of(own->held[i].object), ticket, stamp_now());
  }
  begin_onces_again(own->once);
}

// What was recorded so far must be in the file before the process becomes another program; if that fails,
// recording goes on behind the END.
void before_exec() {
  if (state.mode.load() != Mode::Recording || !trace_is_open()) return;
  flush_all_settled();
  write_end_chunk("exec", "", 0);
}

// The words of an execl call, as an array.
char** collect(char** into, size_t capacity, const char* first, va_list& more) {
  size_t count = 0;
  into[count++] = const_cast<char*>(first);
  while (into[count - 1] != nullptr && count < capacity) into[count++] = va_arg(more, char*);
  return into;
}
constexpr size_t kMostWords = 4096;

}  // namespace

void follow_forks() { __register_atfork(nullptr, nullptr, child_starts, nullptr); }

}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE pid_t vfork() { return fork(); }

// libc's own has the parent leave without a word.
INTERPOSE int daemon(int stay, int keep) {
  if (state.mode.load() == Mode::Recording && trace_is_open()) {
    flush_all_settled();
    write_end_chunk("daemon", "", 0);
  }
  return REAL(daemon)(stay, keep);
}

INTERPOSE int execve(const char* path, char* const* words, char* const* environment) {
  before_exec();
  return REAL(execve)(path, words, environment);
}
INTERPOSE int execv(const char* path, char* const* words) { return execve(path, words, environ); }
INTERPOSE int execvpe(const char* file, char* const* words, char* const* environment) {
  before_exec();
  return REAL(execvpe)(file, words, environment);
}
INTERPOSE int execvp(const char* file, char* const* words) { return execvpe(file, words, environ); }
INTERPOSE int fexecve(int file, char* const* words, char* const* environment) {
  before_exec();
  return REAL(fexecve)(file, words, environment);
}
INTERPOSE int execveat(int directory, const char* path, char* const* words, char* const* environment,
                       int flags) {
  before_exec();
  return REAL(execveat)(directory, path, words, environment, flags);
}
INTERPOSE int execl(const char* path, const char* first, ...) {
  char* words[kMostWords];
  va_list more;
  va_start(more, first);
  collect(words, kMostWords, first, more);
  va_end(more);
  return execve(path, words, environ);
}
INTERPOSE int execlp(const char* file, const char* first, ...) {
  char* words[kMostWords];
  va_list more;
  va_start(more, first);
  collect(words, kMostWords, first, more);
  va_end(more);
  return execvpe(file, words, environ);
}
INTERPOSE int execle(const char* path, const char* first, ...) {
  char* words[kMostWords];
  va_list more;
  va_start(more, first);
  collect(words, kMostWords, first, more);
  char** environment = va_arg(more, char**);
  va_end(more);
  return execve(path, words, environment);
}

INTERPOSE void _exit(int status) {
  finish(Way::Orderly, "_exit", "status", status & 0xff);
  for (;;) system_call(SYS_exit_group, status);
}
INTERPOSE void _Exit(int status) { _exit(status); }
INTERPOSE void exit(int status) {
  control_drain();
  REAL(exit)(status);
  __builtin_unreachable();
}

// What libc does when main returns is not ours to see, main is.
static int (*program_main)(int, char**, char**);
static int main_and_drain(int count, char** words, char** environment) {
  int status = program_main(count, words, environment);
  control_drain();
  return status;
}
INTERPOSE int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*before)(),
                                void (*after)(), void (*loader_after)(), void* stack_end) {
  program_main = main;
  return REAL(__libc_start_main)(main_and_drain, count, words, before, after, loader_after, stack_end);
}

INTERPOSE void quick_exit(int status) {
  note_quick_exit(status);
  REAL(quick_exit)(status);
  __builtin_unreachable();
}
