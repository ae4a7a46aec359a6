#include "exec/flow.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/memory.h"

namespace cleave::exec {
namespace {

template <typename Word>
Word load(const Word& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

}  // namespace

Result<Flow> Flow::make(uint64_t most_bytes, uint64_t allowed_lag) {
  Result<TemporaryFile> made = TemporaryFile::make("flow", TemporaryFile::Place::Memory);
  if (!made) return made.error();
  Flow flow;
  flow.file_ = std::move(made).value();
  void* page = MAP_FAILED;
  if (ftruncate(flow.file_->descriptor(), sizeof(cleave_flow)) == 0)
    page =
        mmap(nullptr, sizeof(cleave_flow), PROT_READ | PROT_WRITE, MAP_SHARED, flow.file_->descriptor(), 0);
  if (page == MAP_FAILED)
    return Error{"", fmt::format("no memory to share with the program: {}", std::strerror(errno))};
  flow.page_ = static_cast<cleave_flow*>(page);
  flow.page_->magic = CLEAVE_FLOW_MAGIC;
  flow.page_->most_bytes = most_bytes;
  flow.page_->allowed_lag = allowed_lag;
  return flow;
}

Flow::Flow(Flow&& other) noexcept
    : file_(std::move(other.file_)), page_(std::exchange(other.page_, nullptr)) {}

Flow::~Flow() {
  if (page_ == nullptr) return;
  close();
  munmap(page_, sizeof *page_);
}

void Flow::wake() {
  __atomic_add_fetch(&page_->woken, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&page_->waiting, __ATOMIC_SEQ_CST) != 0)
    syscall(SYS_futex, &page_->woken, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Flow::consumed(uint64_t bytes) {
  if (bytes <= load(page_->consumed)) return;
  __atomic_store_n(&page_->consumed, bytes, __ATOMIC_SEQ_CST);
  wake();
}

void Flow::close() {
  __atomic_store_n(&page_->closed, 1, __ATOMIC_SEQ_CST);
  wake();
}

uint64_t Flow::written() const { return load(page_->written); }
uint64_t Flow::records() const { return load(page_->records); }
uint64_t Flow::waits() const { return load(page_->waits); }
bool Flow::waiting() const { return load(page_->waiting) != 0; }
bool Flow::cut() const { return load(page_->cut) != 0; }

uint64_t most_trace_bytes(const std::string& path, uint64_t asked) {
  uint64_t most = asked != 0 ? asked : CLEAVE_FLOW_MOST_BYTES;
  std::string folder = std::filesystem::path(path).parent_path().string();
  struct statvfs facts{};
  if (statvfs(path.c_str(), &facts) == 0 || statvfs(folder.empty() ? "." : folder.c_str(), &facts) == 0)
    if (facts.f_blocks != 0) most = std::min(most, uint64_t{facts.f_bavail} * facts.f_frsize / 2);
  return most;
}

uint64_t most_live_bytes() {
  constexpr uint64_t kMost = uint64_t{2} << 30, kLeast = uint64_t{16} << 20;
  return std::max(kLeast, std::min(kMost, available_memory() / 8));
}

}  // namespace cleave::exec
