#include "cli/terminal.h"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/printable.h"

namespace cleave::cli {
namespace {

bool paints(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(descriptor) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

struct Guarded {
  Guarded(int number, bool colour) : descriptor(number), filter(colour) {}

  bool write_all(const std::string& text) const {
    for (size_t done = 0; done < text.size();) {
      const ssize_t wrote = ::write(descriptor, text.data() + done, text.size() - done);
      if (wrote < 0 && errno != EINTR) return false;
      if (wrote > 0) done += static_cast<size_t>(wrote);
    }
    return true;
  }

  int descriptor;
  PrintableStream filter;
};

ssize_t write_guarded(void* cookie, const char* bytes, size_t size) {
  auto* guarded = static_cast<Guarded*>(cookie);
  return guarded->write_all(guarded->filter({bytes, size})) ? static_cast<ssize_t>(size) : 0;
}

std::FILE* plain_output = nullptr;  // as the process got it
Guarded* guarded_output = nullptr;

std::FILE* guard(Guarded* guarded) {
  return fopencookie(guarded, "w",
                     {.read = nullptr, .write = write_guarded, .seek = nullptr, .close = nullptr});
}

}  // namespace

void guard_terminal() {
  // They are there until the very end, when the last of what was printed is written.
  guarded_output = new Guarded(STDOUT_FILENO, paints(STDOUT_FILENO));
  std::FILE* output = guard(guarded_output);
  std::FILE* errors = guard(new Guarded(STDERR_FILENO, false));
  if (output == nullptr || errors == nullptr) return;  // no memory: the first message will say so
  plain_output = stdout;
  if (isatty(STDOUT_FILENO) != 0) std::setvbuf(output, nullptr, _IOLBF, 0);
  std::setvbuf(errors, nullptr, _IONBF, 0);
  stdout = output;
  stderr = errors;
}

std::FILE* data_output() {
  return plain_output != nullptr && isatty(STDOUT_FILENO) == 0 ? plain_output : stdout;
}

bool flush_output() {
  bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (guarded_output != nullptr)
    written = written && guarded_output->write_all(guarded_output->filter.rest());
  if (plain_output != nullptr)
    written = std::fflush(plain_output) == 0 && std::ferror(plain_output) == 0 && written;
  return written;
}

}  // namespace cleave::cli
