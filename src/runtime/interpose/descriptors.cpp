// The program must not close the file of its own trace, nor put another in its place: for it the descriptor
// is not there. Programs that close everything they did not open (daemons) meet it.
#include <errno.h>
#include <unistd.h>

#include "runtime/interpose/real.h"
#include "runtime/record/file.h"
#include "runtime/record/state.h"
#include "runtime/record/system.h"
#include "runtime/schedule/control_outside.h"

namespace cleave::runtime {
namespace {

bool is_ours(int descriptor) {
  return __builtin_expect(descriptor >= 0 && descriptor == trace_descriptor(), 0);
}

int close_around(unsigned first, unsigned last, int flags) {
  int ours = trace_descriptor();
  if (ours < 0 || static_cast<unsigned>(ours) < first || static_cast<unsigned>(ours) > last)
    return REAL(close_range)(first, last, flags);
  auto middle = static_cast<unsigned>(ours);
  int result = middle > first ? REAL(close_range)(first, middle - 1, flags) : 0;
  return result == 0 && middle < last ? REAL(close_range)(middle + 1, last, flags) : result;
}

// Where the program puts another in place of ours, ours goes elsewhere.
template <typename Duplicate>
int duplicate(int from, int to, Duplicate real) {
  if (is_ours(from)) {
    errno = EBADF;
    return -1;
  }
  bool moved = is_ours(to);
  if (moved) move_trace_descriptor(to);
  forget_descriptor(to);
  int result = real();
  if (moved && result < 0) system_call(SYS_close, to);
  return result;
}

}  // namespace
}  // namespace cleave::runtime

using namespace cleave::runtime;

INTERPOSE int close(int descriptor) {
  if (is_ours(descriptor)) {
    errno = EBADF;
    return -1;
  }
  forget_descriptor(descriptor);
  return REAL(close)(descriptor);
}
INTERPOSE int close_range(unsigned first, unsigned last, int flags) {
  return close_around(first, last, flags);
}
INTERPOSE void closefrom(int first) { close_around(first < 0 ? 0 : static_cast<unsigned>(first), ~0u, 0); }
INTERPOSE int dup2(int from, int to) {
  return duplicate(from, to, [&] { return REAL(dup2)(from, to); });
}
INTERPOSE int dup3(int from, int to, int flags) {
  return duplicate(from, to, [&] { return REAL(dup3)(from, to, flags); });
}
