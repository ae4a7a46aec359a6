// A cached object with an atomic reference count that is decremented, and then, separately, compared with zero. Every
// single operation is atomic; letting go is not.
#include "cleave/annotate.h"
#include "common/program.h"

class CacheObject {
 public:
  void acquire() { refcount_.fetch_add(1); }
  CLEAVE_ATOMIC void release() {
#ifdef FIXED
    if (refcount_.fetch_sub(1) == 1) cleanup();
#else
    refcount_.fetch_sub(1);
    if (refcount_.load() == 0) cleanup();
#endif
  }
  int cleanups() const { return cleanups_.load(); }

 private:
  void cleanup() { cleanups_.fetch_add(1); }

  std::atomic<int> refcount_ = 0;
  std::atomic<int> cleanups_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    CacheObject object;
    for (unsigned user = 0; user < options.threads; user++) object.acquire();
    run_threads(options.threads, [&object](unsigned) { object.release(); });
    held = object.cleanups() == 1;
  }
  return verdict(held, "the object was cleaned up more than once");
}
