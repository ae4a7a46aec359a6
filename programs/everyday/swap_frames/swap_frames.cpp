// A display with a front and a back frame behind shared pointers.
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

struct Frame {
  explicit Frame(int n) : number(n) {}
  const int number;
};
using FramePtr = std::shared_ptr<const Frame>;

class Display {
 public:
  Display(FramePtr front, FramePtr back) : front_(std::move(front)), back_(std::move(back)) {}

  FramePtr front() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return front_;
  }
  FramePtr back() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return back_;
  }
  std::pair<FramePtr, FramePtr> both() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return {front_, back_};
  }
  void set_front(FramePtr frame) {
    std::lock_guard<std::mutex> lock(mutex_);
    front_ = std::move(frame);
  }
  void set_back(FramePtr frame) {
    std::lock_guard<std::mutex> lock(mutex_);
    back_ = std::move(frame);
  }
  void flip() {
#ifdef FIXED
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(front_, back_);
#else
    FramePtr old = front();
    set_front(back());
    set_back(old);
#endif
  }

 private:
  mutable std::mutex mutex_;
  FramePtr front_;
  FramePtr back_;
};

int main() {
  Display display(std::make_shared<Frame>(1), std::make_shared<Frame>(2));
  bool same = false;
  std::thread flipper([&display] {
    for (int i = 0; i < 3; i++) display.flip();
  });
  std::thread viewer([&] {
    for (int i = 0; i < 4; i++) {
      auto [front, back] = display.both();
      if (front == back) same = true;
      std::this_thread::yield();
    }
  });
  flipper.join();
  viewer.join();
  if (same) {
    std::puts("wrong: front and back are the same frame");
    return 1;
  }
  std::printf("front frame %d\n", display.front()->number);
  return 0;
}
