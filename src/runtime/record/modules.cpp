#include "runtime/record/modules.h"

#include <string.h>
#include <sys/mman.h>

#include "abi/hooks.h"
#include "runtime/interpose/process_text.h"
#include "runtime/interpose/real.h"
#include "runtime/record/file.h"
#include "runtime/record/message.h"
#include "runtime/record/state.h"
#include "runtime/schedule/control.h"

namespace cleave::runtime {

std::atomic<uint32_t> unloaded_count{0};

namespace {

// A module that is gone. Records of it may still wait in buffers, so its segments are kept; and its addresses
// are kept from being used again, so that in the file an address always means the same segment.
struct Unloaded {
  uint64_t from, to;
  const cleave_segment* copy;
  bool reserved;
};

constexpr size_t kModules = 65536;
constexpr size_t kUnloaded = 4096;
SpinLock modules_lock;
const cleave_module** modules;  // null entries are gone
std::atomic<size_t> module_count{0};
Unloaded* unloaded;
__thread uint32_t closing __attribute__((tls_model("initial-exec")));  // within dlclose

bool write_module(const cleave_module& module) {
  cleave_module_chunk facts{word_of(module.segments),
                            module.segment_count,
                            module.identity,
                            static_cast<uint32_t>(strlen(module.name)),
                            static_cast<uint32_t>(module.global_count),
                            module.table_bytes};
  cleave_chunk_header header{};
  header.kind = CLEAVE_CHUNK_MODULE;
  auto part = [](const void* data, uint64_t bytes) { return iovec{const_cast<void*>(data), bytes}; };
  iovec parts[] = {part(&header, sizeof header),
                   part(&facts, sizeof facts),
                   part(module.name, facts.name_bytes),
                   part(module.segments, module.segment_count * sizeof *module.segments),
                   part(module.globals, module.global_count * sizeof *module.globals),
                   part(module.tables, module.table_bytes)};
  return append_chunk(header, parts, 6);
}

void remember(const cleave_module* module) {
  SignalSafeLock lock(modules_lock);
  if (modules == nullptr)
    modules = static_cast<const cleave_module**>(map_memory(kModules * sizeof *modules));
  size_t count = module_count.load(std::memory_order_relaxed);
  if (modules == nullptr || count == kModules) fail("too many instrumented modules");
  modules[count] = module;
  module_count.store(count + 1, std::memory_order_release);
}

void keep_segments(const cleave_module& module) {
  size_t bytes = module.segment_count * sizeof *module.segments;
  if (bytes == 0) return;
  auto* copy = static_cast<cleave_segment*>(map_memory((bytes + kPage - 1) & ~(kPage - 1)));
  if (copy == nullptr) fail("no memory to keep the segments of an unloaded library");
  memcpy(copy, module.segments, bytes);
  SignalSafeLock lock(modules_lock);
  if (unloaded == nullptr) unloaded = static_cast<Unloaded*>(map_memory(kUnloaded * sizeof *unloaded));
  uint32_t count = unloaded_count.load(std::memory_order_relaxed);
  if (unloaded == nullptr || count == kUnloaded) fail("too many libraries were unloaded");
  uint64_t from = word_of(module.segments);
  unloaded[count] = {from, from + bytes, copy, false};
  unloaded_count.store(count + 1, std::memory_order_release);
}

void reserve_addresses() {
  uint32_t count = unloaded_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (unloaded[i].reserved) continue;
    uint64_t from = unloaded[i].from & ~(kPage - 1), to = (unloaded[i].to + kPage - 1) & ~(kPage - 1);
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    system_call(SYS_mmap, static_cast<long>(from), static_cast<long>(to - from), PROT_NONE, kFlags, -1, 0);
    unloaded[i].reserved = true;
  }
}

void forget(const cleave_module* module) {
  SignalSafeLock lock(modules_lock);
  size_t count = module_count.load(std::memory_order_relaxed);
  for (size_t i = 0; i < count; ++i)
    if (modules[i] == module) modules[i] = nullptr;
}

}  // namespace

bool write_all_modules() {
  size_t count = module_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count; ++i)
    if (modules[i] != nullptr && !write_module(*modules[i])) return false;
  return true;
}

const cleave_segment* segment_among_unloaded(uint64_t address) {
  uint32_t count = unloaded_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    if (address >= unloaded[i].from && address < unloaded[i].to)
      return unloaded[i].copy + (address - unloaded[i].from) / sizeof(cleave_segment);
  return reinterpret_cast<const cleave_segment*>(address);
}

}  // namespace cleave::runtime

using namespace cleave::runtime;

extern "C" void __cleave_register(const cleave_module* module) {
  initialise();
  if (module->abi_version != CLEAVE_ABI_VERSION)
    fail("this part of the program was built with another version of Cleave; rebuild it", module->name);
  remember(module);
  control_module(module);
  if (!recording()) return;
  write_module(*module);
  write_new_mapped_files();
}

// At the end of the process nothing is unmapped and the tables stay good; within dlclose they are about to
// go.
extern "C" void __cleave_unregister(const cleave_module* module) {
  if (closing == 0 || (state.mode.load() != Mode::Recording && !state.controlled)) return;
  forget(module);
  keep_segments(*module);
  control_module_gone(module);
  if (state.mode.load() != Mode::Recording) return;
  uint64_t address = word_of(module->segments);
  cleave_chunk_header header{};
  header.kind = CLEAVE_CHUNK_UNLOAD;
  iovec parts[] = {{&header, sizeof header}, {&address, sizeof address}};
  append_chunk(header, parts, 2);
}

// dlopen itself is not interposed: it looks for the caller's RUNPATH by its return address, which would be
// ours.
INTERPOSE int dlclose(void* library) {
  ++closing;
  int result = REAL(dlclose)(library);
  --closing;
  if (state.mode.load() == Mode::Recording || state.controlled) reserve_addresses();
  return result;
}
