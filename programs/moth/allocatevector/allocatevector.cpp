// Blocks are allocated in two stages: find the index of a free one, then mark it. Two threads find the same.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class AllocationVector {
 public:
  explicit AllocationVector(int size) : size_(size) {
    for (int i = 0; i < size; i++) blocks_[i] = 'F';
  }

  // -1 when no block is free. Starts anywhere, walks with a stride, so that threads seldom meet.
  int get_free_block_index(uint64_t* random) {
    std::lock_guard lock(mutex_);
    static constexpr int kPrimes[] = {1, 3, 7, 11, 13};
    int start = static_cast<int>(next_random(random) % static_cast<uint64_t>(size_));
    int stride = kPrimes[next_random(random) % 5];
    for (int step = 0; step < size_; step++) {
      int index = (start + step * stride) % size_;
      if (blocks_[index] == 'F') return index;
    }
    return -1;
  }

  bool mark_as_allocated(int index) {
    std::lock_guard lock(mutex_);
    if (blocks_[index] == 'A') return false;
    blocks_[index] = 'A';
    return true;
  }

  bool mark_as_free(int index) {
    std::lock_guard lock(mutex_);
    if (blocks_[index] == 'F') return false;
    blocks_[index] = 'F';
    return true;
  }

  // -1: none free; -2: allocated an allocated block.
  CLEAVE_ATOMIC int allocate_block(uint64_t* random) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int index = get_free_block_index(random);
    if (index < 0) return -1;
    return mark_as_allocated(index) ? index : -2;
  }

  static constexpr int kMost = 4096;

 private:
  std::recursive_mutex mutex_;
  int size_;
  char blocks_[kMost];
};

// Allocates `count` blocks, then frees them.
static bool use_blocks(AllocationVector& vector, unsigned count, uint64_t random) {
  std::vector<int> mine;
  for (unsigned i = 0; i < count; i++) {
    int index = vector.allocate_block(&random);
    if (index == -2) return false;
    if (index >= 0) mine.push_back(index);
  }
  for (int index : mine)
    if (!vector.mark_as_free(index)) return false;
  return true;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 10);
  std::atomic<bool> held = true;
  int size = 1 + static_cast<int>(options.iters * options.threads);
  if (size > AllocationVector::kMost) size = AllocationVector::kMost;
  AllocationVector vector(size);
  run_threads(options.threads, [&vector, &options, &held](unsigned id) {
    if (!use_blocks(vector, options.iters, options.seed * 77 + id)) held = false;
  });
  return verdict(held, "an allocated block was allocated, or a free one freed");
}
