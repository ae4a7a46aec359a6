#include "runtime/record/message.h"

#include <signal.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/record/system.h"

namespace cleave::runtime {

void say(const char* sentence, const char* detail, const char* more) {
  const char* parts[] = {"cleave: ", sentence, *detail ? ": " : "", detail, *more ? ": " : "", more, "\n"};
  iovec pieces[7];
  for (int i = 0; i < 7; ++i) pieces[i] = {const_cast<char*>(parts[i]), strlen(parts[i])};
  system_call(SYS_writev, 2, reinterpret_cast<long>(pieces), 7);
}

void fail(const char* sentence, const char* detail) {
  say(sentence, detail);
  system_call(SYS_kill, current_pid(), SIGABRT);
  for (;;) system_call(SYS_exit_group, 134);
}

}  // namespace cleave::runtime
