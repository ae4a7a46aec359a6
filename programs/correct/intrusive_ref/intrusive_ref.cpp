// Intrusive reference counting.
#include <atomic>
#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

class Shared {
 public:
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 protected:
  virtual ~Shared() = default;

 private:
  std::atomic<int> refs_{0};
};

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->retain();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->release();
  }
  T* operator->() const { return object_; }

 private:
  T* object_ = nullptr;
};

static std::atomic<int> alive{0};

class Texture : public Shared {
 public:
  explicit Texture(int size) : size_(size) { alive++; }
  int size() const { return size_; }

 private:
  ~Texture() override { alive--; }
  const int size_;
};

int main() {
  long sums[3] = {};
  {
    Ref<Texture> texture(new Texture(64));
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
      threads.emplace_back([copy = texture, &sums, t] {
        for (int i = 0; i < 3; i++) {
          Ref<Texture> another = copy;
          sums[t] += another->size();
        }
      });
    texture = Ref<Texture>();
    for (auto& thread : threads) thread.join();
  }
  if (alive != 0 || sums[0] + sums[1] + sums[2] != 576) {
    std::printf("wrong: %d textures alive\n", alive.load());
    return 1;
  }
  std::puts("no textures alive");
  return 0;
}
