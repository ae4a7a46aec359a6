// Memory for tables with one entry a variable or a name. They are large and are touched all over: on pages of
// 4 KB their first touches cost more than what is done with them, and every other access misses the TLB.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace cleave {

inline constexpr size_t kHugePage = size_t{2} << 20;

// For std::vector: blocks of several huge pages ask for them.
template <typename T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <typename U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(size_t count) {
    if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_array_new_length();
    size_t bytes = count * sizeof(T);
    if (bytes < 2 * kHugePage) return static_cast<T*>(::operator new(bytes));
    size_t rounded = (bytes + kHugePage - 1) / kHugePage * kHugePage;
    void* block = std::aligned_alloc(kHugePage, rounded);
    if (block == nullptr) throw std::bad_alloc();
    madvise(block, rounded, MADV_HUGEPAGE);  // refused: small pages do as well
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t count) {
    if (count * sizeof(T) < 2 * kHugePage) return ::operator delete(block);
    std::free(block);
  }
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
};

// Makes room for one more, as push_back would, but on huge pages where it is large: they have to be asked for
// before they are touched. For a vector whose type says nothing of it.
template <typename T>
void grow_on_huge_pages(std::vector<T>& values) {
  if (values.size() < values.capacity() || values.size() * sizeof(T) < kHugePage) return;
  std::vector<T> larger;
  larger.reserve(2 * values.capacity());
  auto begin = reinterpret_cast<uintptr_t>(larger.data()), end = begin + larger.capacity() * sizeof(T);
  begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
  end = end / kHugePage * kHugePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  for (T& value : values) larger.push_back(std::move(value));
  values = std::move(larger);
}

// An array that only grows and whose entries begin as zero bytes, which the kernel provides: growing touches
// nothing.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  ZeroedArray() = default;
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;
  ~ZeroedArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  size_t size() const { return bytes_ / sizeof(T); }
  T& operator[](size_t index) { return data_[index]; }
  const T& operator[](size_t index) const { return data_[index]; }
  // At least so many entries; moves them.
  void grow(size_t entries) {
    if (entries <= size()) return;
    size_t bytes = bytes_ == 0 ? size_t{64} << 10 : bytes_;
    while (bytes / sizeof(T) < entries) bytes *= 2;
    void* block = data_ == nullptr ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                   : mremap(data_, bytes_, bytes, MREMAP_MAYMOVE);
    if (block == MAP_FAILED) throw std::bad_alloc();
    if (bytes >= 2 * kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
    data_ = static_cast<T*>(block);
    bytes_ = bytes;
  }

 private:
  T* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace cleave
