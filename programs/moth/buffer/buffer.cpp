// A buffer protocol as it was published: one cell stands for the whole queue. Its authors say that an item, once
// fetched, belongs to the thread alone; the code does not make it so.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Buffer {
 public:
  int next() {
    std::lock_guard lock(mutex_);
    head_++;
    return cell_;
  }
  void add(int data) {
    std::lock_guard lock(mutex_);
    tail_++;
    cell_ = data;
  }
  bool balanced() const { return head_ == tail_; }

 private:
  std::mutex mutex_;
  int cell_ = 2, head_ = 0, tail_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 3, 10);
  Buffer buffer;
  run_threads(options.threads, [&buffer, &options](unsigned) {
    for (unsigned i = 0; i < options.iters; i++) {
      int value = buffer.next();
      buffer.add(value % 1000 * (value % 1000));
    }
  });
  return verdict(buffer.balanced(), "more items were fetched than added");
}
