#include "runtime/interpose/process_text.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "runtime/record/file.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

// JSON into memory of our own; what does not fit is left out value by value, so the text stays well-formed.
class JsonText {
 public:
  static constexpr size_t kCapacity = 1 << 20;
  JsonText() : text_(static_cast<char*>(map_memory(kCapacity))) {}
  ~JsonText() {
    if (text_) system_call(SYS_munmap, reinterpret_cast<long>(text_), kCapacity);
  }
  JsonText(const JsonText&) = delete;
  JsonText& operator=(const JsonText&) = delete;

  void raw(const char* text) {
    size_t length = strlen(text);
    if (text_ == nullptr || size_ + length > kCapacity) return;
    memcpy(text_ + size_, text, length);
    size_ += length;
  }
  void string(const char* text, size_t length) {
    if (text_ == nullptr || size_ + 6 * length + 256 > kCapacity) length = 0;
    raw("\"");
    for (size_t i = 0; i < length; ++i) character(static_cast<unsigned char>(text[i]));
    raw("\"");
  }
  void string(const char* text) { string(text, strlen(text)); }
  void key(const char* name) {
    separate();
    string(name);
    raw(": ");
  }
  void separate() {
    if (!first_) raw(", ");
    first_ = false;
  }
  void open(const char* bracket) {
    raw(bracket);
    first_ = true;
  }
  void close(const char* bracket) {
    raw(bracket);
    first_ = false;
  }
  void number(unsigned long value) {
    char digits[24];
    char* end = digits + sizeof digits - 1;
    *end = 0;
    do *--end = static_cast<char>('0' + value % 10);
    while (value /= 10);
    raw(end);
  }
  void hexadecimal(unsigned long value) {
    char digits[24] = "\"0x";
    size_t count = 3;
    for (int shift = 60; shift >= 0; shift -= 4)
      if (value >> shift || shift == 0) digits[count++] = "0123456789abcdef"[value >> shift & 15];
    digits[count++] = '"';
    digits[count] = 0;
    raw(digits);
  }
  const char* text() const { return text_; }
  size_t size() const { return size_; }
  bool nearly_full() const { return size_ + 65536 > kCapacity; }
  // Whether a text of that length does, with half of the room left for what comes after it.
  bool fits(size_t length) const { return size_ + 6 * length + 256 < kCapacity / 2; }

 private:
  void character(unsigned char c) {
    char escaped[8] = {};
    if (c == '"' || c == '\\') {
      escaped[0] = '\\';
      escaped[1] = static_cast<char>(c);
    } else if (c < 0x20 || c >= 0x7f) {  // bytes that may not be UTF-8 are kept one by one as Latin-1
      memcpy(escaped, "\\u00", 4);
      escaped[4] = "0123456789abcdef"[c >> 4];
      escaped[5] = "0123456789abcdef"[c & 15];
    } else {
      escaped[0] = static_cast<char>(c);
    }
    raw(escaped);
  }
  char* text_;
  size_t size_ = 0;
  bool first_ = true;
};

size_t read_file(const char* path, char* into, size_t capacity) {
  long descriptor = system_call(SYS_open, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  size_t size = 0;
  for (;;) {
    long got = system_call(SYS_read, descriptor, reinterpret_cast<long>(into + size),
                           static_cast<long>(capacity - size));
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  system_call(SYS_close, descriptor);
  return size;
}

void add_link(JsonText& json, const char* key, const char* path) {
  char target[4096];
  long length =
      system_call(SYS_readlink, reinterpret_cast<long>(path), reinterpret_cast<long>(target), sizeof target);
  json.key(key);
  json.string(target, length > 0 ? static_cast<size_t>(length) : 0);
}

void add_arguments(JsonText& json) {
  constexpr size_t kCapacity = 1 << 18;
  char* words = static_cast<char*>(map_memory(kCapacity));
  if (words == nullptr) return;
  size_t size = read_file("/proc/self/cmdline", words, kCapacity);
  json.key("arguments");
  json.open("[");
  for (size_t at = 0; at < size && !json.nearly_full();) {
    size_t length = strnlen(words + at, size - at);
    json.separate();
    json.string(words + at, length);
    at += length + 1;
  }
  json.close("]");
  system_call(SYS_munmap, reinterpret_cast<long>(words), kCapacity);
}

// All of it, since a replay needs what the program found; `whole_environment` is false where it is too long
// for that.
void add_environment(JsonText& json) {
  bool whole = true;
  json.key("environment");
  json.open("{");
  for (char** entry = environ; entry && *entry; ++entry) {
    const char* value = strchr(*entry, '=');
    if (value == nullptr || strncmp(*entry, "CLEAVE_PADDING=", 15) == 0) continue;
    if (!json.fits(strlen(*entry))) {
      whole = false;
      continue;
    }
    json.separate();
    json.string(*entry, static_cast<size_t>(value - *entry));
    json.raw(": ");
    json.string(value + 1);
  }
  json.close("}");
  json.key("whole_environment");
  json.raw(whole ? "true" : "false");
}

void add_build_id(JsonText& json, const dl_phdr_info& object) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(object.dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const char* name = at + sizeof *note;
      const char* contents = name + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
          note->n_descsz <= 64) {
        char digits[130];
        for (unsigned k = 0; k < note->n_descsz; ++k) {
          digits[2 * k] = "0123456789abcdef"[static_cast<unsigned char>(contents[k]) >> 4];
          digits[2 * k + 1] = "0123456789abcdef"[contents[k] & 15];
        }
        json.key("build_id");
        json.string(digits, 2 * note->n_descsz);
        return;
      }
      at = contents + ((note->n_descsz + 3) & ~3u);
    }
  }
}

// Libraries loaded since the process began, counted by the loader.
std::atomic<unsigned long long> loads_written{0};

int add_mapped_file(dl_phdr_info* object, size_t, void* argument) {
  loads_written.store(object->dlpi_adds, std::memory_order_relaxed);
  JsonText& json = *static_cast<JsonText*>(argument);
  if (json.nearly_full()) return 1;
  json.separate();
  json.open("{");
  json.key("file");
  json.string(object->dlpi_name);  // empty for the program itself
  json.key("base");
  json.hexadecimal(object->dlpi_addr);
  add_build_id(json, *object);
  json.close("}");
  return 0;
}

void add_mapped_files(JsonText& json) {
  json.key("mapped");
  json.open("[");
  dl_iterate_phdr(add_mapped_file, &json);
  json.close("]");
}

}  // namespace

bool write_process_chunk(ProcessText what) {
  Quiet quiet;
  JsonText json;
  json.open("{");
  json.key("pid");
  json.number(static_cast<unsigned long>(current_pid()));
  if (what == ProcessText::Whole) {
    json.key("parent");
    json.number(static_cast<unsigned long>(system_call(SYS_getppid)));
    add_link(json, "program", "/proc/self/exe");
    add_link(json, "directory", "/proc/self/cwd");
    add_arguments(json);
    add_environment(json);
  }
  add_mapped_files(json);
  json.close("}");
  return append_text_chunk(CLEAVE_CHUNK_PROCESS, json.text(), json.size());
}

bool write_new_mapped_files() {
  Quiet quiet;
  unsigned long long loads = 0;
  auto look = [](dl_phdr_info* object, size_t, void* argument) {
    *static_cast<unsigned long long*>(argument) = object->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(look, &loads);
  return loads == loads_written.load(std::memory_order_relaxed) ||
         write_process_chunk(ProcessText::MappedFiles);
}

bool write_end_chunk(const char* ended, const char* name, long value) {
  JsonText json;
  json.open("{");
  json.key("ended");
  json.string(ended);
  if (*name) {
    json.key(name);
    json.number(static_cast<unsigned long>(value));
  }
  json.key("threads");
  json.number(state.next_number.load());
  json.key("late");
  json.number(state.late.load());
  json.close("}");
  return append_text_chunk(CLEAVE_CHUNK_END, json.text(), json.size());
}

}  // namespace cleave::runtime
