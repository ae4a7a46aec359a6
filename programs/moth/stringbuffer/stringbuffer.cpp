// append(other) asks the other buffer for its length, makes room, and then copies so many characters: but the other
// buffer may have shrunk meanwhile.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class StringBuffer {
 public:
  explicit StringBuffer(const char* text) {
    while (*text != '\0') chars_[length_++] = *text++;
  }

  int length() {
    std::lock_guard lock(mutex_);
    return length_;
  }

  // Copies the first `count` characters; false if there are not so many.
  bool get_chars(int count, char* target) {
    std::lock_guard lock(mutex_);
    if (count > length_) return false;
    for (int i = 0; i < count; i++) target[i] = chars_[i];
    return true;
  }

  void erase_from(int position) {
    std::lock_guard lock(mutex_);
    length_ = position;
  }

  void push_back(char character) {
    std::lock_guard lock(mutex_);
    if (length_ < kMost) chars_[length_++] = character;
  }

  CLEAVE_ATOMIC bool append(StringBuffer& other) {
#ifdef FIXED
    std::lock_guard whole(other.mutex_);
#endif
    int count = other.length();
    char copy[kMost];
    if (!other.get_chars(count, copy)) return false;
    std::lock_guard lock(mutex_);
    for (int i = 0; i < count && length_ < kMost; i++) chars_[length_++] = copy[i];
    return true;
  }

 private:
  static constexpr int kMost = 64;
  std::recursive_mutex mutex_;
  char chars_[kMost] = {};
  int length_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 10); // one appends, the others change what is appended
  StringBuffer ham("ham"), burger("burger");
  bool held = true;
  run_threads(options.threads, [&ham, &burger, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++) {
      if (id == 0) {
        held = ham.append(burger) && held;
        ham.erase_from(3);
      } else {
        burger.erase_from(0);
        burger.push_back('b');
      }
    }
  });
  return verdict(held, "characters were asked for that are no longer there");
}
