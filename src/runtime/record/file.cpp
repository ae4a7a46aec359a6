#include "runtime/record/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include "abi/chunk_checksum.h"
#include "runtime/interpose/process_text.h"
#include "runtime/record/flow.h"
#include "runtime/record/message.h"
#include "runtime/record/modules.h"
#include "runtime/record/setting.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

constexpr int kNone = -1;              // nothing is written
constexpr int kPending = -2;           // to be opened with the first chunk
constexpr long kUnread = -(1L << 32);  // instead of a descriptor: nobody would read that file

struct TraceFile {
  std::atomic<int> descriptor{kNone};
  char path[4096] = {};
  SpinLock opening;
  std::atomic<bool> stopped{false};
  std::atomic<bool> ending{false};  // the chunk is written that says where the trace was cut
  bool raw = false;
  bool of_one_process = false;  // nobody would read what another writes
};
TraceFile file;

long open_file(const char* path, int flags) {
  return system_call(SYS_open, reinterpret_cast<long>(path),
                     flags | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
}

// Out of the way of programs that expect the lowest numbers: they see the same descriptors as without us.
int lift(int descriptor) {
  for (int lowest : {1000, 500, 200}) {
    long moved = system_call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, lowest);
    if (moved >= 0) {
      system_call(SYS_close, descriptor);
      return static_cast<int>(moved);
    }
  }
  return descriptor;
}

const char* error_text(int error) {
  const char* text = strerrordesc_np(error);
  return text ? text : "unknown error";
}

void append_number(char* text, size_t capacity, unsigned long number) {
  char digits[24];
  size_t count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  size_t length = strlen(text);
  if (length + count + 2 > capacity) return;
  text[length++] = '.';
  while (count) text[length++] = digits[--count];
  text[length] = 0;
}

// The file of this process: the named one if it is empty and nobody has it, else one with the process id
// behind it. A file that has no name was made for one process, and a raw one is read while it is written:
// then other processes write none.
long open_for_process() {
  long descriptor = open_file(file.path, O_CREAT);
  struct stat facts{};
  if (descriptor < 0 || system_call(SYS_fstat, descriptor, reinterpret_cast<long>(&facts)) < 0 ||
      !S_ISREG(facts.st_mode))
    return descriptor;
  file.of_one_process = file.raw || facts.st_nlink == 0;
  limit_by_free_space(static_cast<int>(descriptor));
  bool taken = facts.st_size != 0 || system_call(SYS_flock, descriptor, LOCK_EX | LOCK_NB) < 0;
  write_for_the_reader(!taken);
  if (!taken) return descriptor;
  system_call(SYS_close, descriptor);
  if (file.of_one_process) return kUnread;
  append_number(file.path, sizeof file.path, static_cast<unsigned long>(current_pid()));
  descriptor = open_file(file.path, O_CREAT | O_EXCL);
  for (unsigned turn = 2; descriptor == -EEXIST && turn < 100; ++turn) {
    char name[sizeof file.path];
    memcpy(name, file.path, sizeof name);
    append_number(name, sizeof name, turn);
    descriptor = open_file(name, O_CREAT | O_EXCL);
    if (descriptor >= 0) memcpy(file.path, name, sizeof name);
  }
  return descriptor;
}

long write_once(const iovec* parts, int count) {
  long written;
  do
    written = system_call(SYS_writev, file.descriptor.load(std::memory_order_relaxed),
                          reinterpret_cast<long>(parts), count);
  while (written == -EINTR);
  return written;
}

bool write_whole(const iovec* parts, int count, long bytes) {
  long written = write_once(parts, count);
  if (__builtin_expect(written == bytes, 1)) return true;
  // A part was written: the next byte tells why it was not all. The chunk is broken, and a reader sees that.
  long why = written < 0 ? written : write_once(parts, 1);
  stop_recording(file.path, why < 0 ? static_cast<int>(-why) : EIO);
  return false;
}

void stop_at_limit(bool says_so) {
  if (file.stopped.exchange(true)) return;
  file.ending.store(true);
  write_end_chunk("limit", "limit", static_cast<long>(most_bytes()));
  file.ending.store(false);
  state.mode.store(Mode::Off);
  if (!says_so) return;
  char size[32] = {};
  append_number(size, sizeof size - 4, most_bytes() >> 20);
  say("the trace has reached its limit (--max-trace) and ends here; the program goes on unrecorded",
      file.path, strcat(size, " MB") + 1);
}

// What does not fit any more is left out; the last chunk says so.
bool write_parts(const iovec* parts, int count) {
  long bytes = 0;
  for (int i = 0; i < count; ++i) bytes += static_cast<long>(parts[i].iov_len);
  bool first = false;
  if (__builtin_expect(take_bytes(static_cast<uint64_t>(bytes), &first), 1) || file.ending.load())
    return write_whole(parts, count, bytes);
  stop_at_limit(first);
  return false;
}

bool write_beginning() {
  cleave_file_header header{CLEAVE_TRACE_MAGIC, CLEAVE_TRACE_VERSION, sizeof header, ticks_now(),
                            static_cast<uint64_t>(current_pid())};
  iovec part{&header, sizeof header};
  return write_parts(&part, 1) && write_process_chunk(ProcessText::Whole);
}

bool start_file(long descriptor) {
  if (descriptor < 0) {
    file.descriptor.store(kNone);
    if (descriptor != kUnread) stop_recording(file.path, static_cast<int>(-descriptor));
    return false;
  }
  file.descriptor.store(lift(static_cast<int>(descriptor)));
  return write_beginning();
}

bool open_pending() {
  SignalSafeLock lock(file.opening);
  if (file.descriptor.load() != kPending) return file.descriptor.load() >= 0;
  return start_file(open_for_process()) && write_all_modules();
}

bool ready() {
  int descriptor = file.descriptor.load(std::memory_order_acquire);
  return descriptor >= 0 || (descriptor == kPending && open_pending());
}

}  // namespace

bool open_trace() {
  const char* path = setting("CLEAVE_TRACE");
  if (path == nullptr || *path == 0) return false;
  if (strlen(path) + 32 > sizeof file.path) {
    say("the name of the trace is too long", path);
    return false;
  }
  strcpy(file.path, path);
  if (!attach_flow()) return false;  // nobody wants the trace any more
  file.raw = setting(CLEAVE_TRACE_RAW_VARIABLE) != nullptr;
  return start_file(open_for_process());
}

void redirect_to_child_file() {
  int inherited = file.descriptor.exchange(kPending);
  if (inherited >= 0) system_call(SYS_close, inherited);
  if (inherited == kNone) file.descriptor.store(kNone);
  file.opening.reset();
  write_for_the_reader(false);
  // path stays: it exists and is not empty, so opening it again gives PATH.PID
}

bool trace_is_open() { return file.descriptor.load() >= 0; }
int trace_descriptor() { return file.descriptor.load(std::memory_order_relaxed); }

void move_trace_descriptor(int away_from) {
  int old = file.descriptor.load();
  long moved = system_call(SYS_fcntl, old, F_DUPFD_CLOEXEC, away_from + 1);
  if (moved < 0) moved = system_call(SYS_fcntl, old, F_DUPFD_CLOEXEC, 3);
  if (moved < 0) return stop_recording(file.path, static_cast<int>(-moved));
  file.descriptor.store(static_cast<int>(moved));
}

bool append_chunk(cleave_chunk_header& header, iovec* parts, int count) {
  if (!ready()) return false;
  uint64_t bytes = 0;
  for (int i = 1; i < count; ++i) bytes += parts[i].iov_len;
  header.magic = CLEAVE_CHUNK_MAGIC;
  header.stored_bytes = static_cast<uint32_t>(bytes);
  XXH3_state_t hash;
  XXH3_INITSTATE(&hash);
  XXH3_64bits_reset_withSeed(&hash, cleave_chunk_seed(&header));
  for (int i = 1; i < count; ++i) XXH3_64bits_update(&hash, parts[i].iov_base, parts[i].iov_len);
  header.checksum = XXH3_64bits_digest(&hash);
  return write_parts(parts, count);
}

bool append_chunk_in_place(cleave_chunk_header* header, uint32_t body_bytes) {
  if (!ready()) return false;
  header->magic = CLEAVE_CHUNK_MAGIC;
  header->stored_bytes = body_bytes;
  header->checksum = cleave_chunk_checksum(header, header + 1);
  iovec part{header, sizeof *header + body_bytes};
  return write_parts(&part, 1);
}

bool append_raw_chunk(cleave_chunk_header& header, const uint64_t* words, uint64_t count) {
  if (!ready()) return false;
  header.magic = CLEAVE_CHUNK_MAGIC;
  header.flags = CLEAVE_CHUNK_RAW;
  header.words = static_cast<uint32_t>(count);
  header.stored_bytes = static_cast<uint32_t>(count * sizeof *words);
  header.checksum = cleave_raw_checksum(&header, words);
  iovec parts[2] = {{&header, sizeof header}, {const_cast<uint64_t*>(words), header.stored_bytes}};
  return write_parts(parts, 2);
}

bool trace_is_raw() { return file.raw; }
bool trace_is_of_one_process() { return file.of_one_process; }

bool append_text_chunk(cleave_chunk_kind kind, const char* text, uint64_t bytes) {
  cleave_chunk_header header{};
  header.kind = static_cast<uint16_t>(kind);
  iovec parts[2] = {{&header, sizeof header}, {const_cast<char*>(text), bytes}};
  return append_chunk(header, parts, 2);
}

void stop_recording(const char* why, int error) {
  if (file.stopped.exchange(true)) return;
  state.mode.store(Mode::Off);
  say("the trace cannot be written, and the program goes on unrecorded", why, error_text(error));
}

}  // namespace cleave::runtime
