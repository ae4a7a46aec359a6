// What several objects point to belongs to none of them: each of these programs does as it should, in
// critical sections of the shared object's own mutex, though a method of one of the users has two of them.
//   SERVICE 1   two users of one service             2   one user, and main, which uses the service by itself
//           3   children that count in their parent  4   a node that goes from one list to another
//           5   a method of the service, called by main
#include <mutex>
#include <thread>

#include "steps.h"

int steps_done;

class User;

struct Service {
  std::mutex mutex;
  int used = 0, failed = 0;
  void note() {
    std::lock_guard<std::mutex> guard(mutex);
    ++used;
    ++failed;
  }
};

class User {
 public:
  explicit User(Service& service) : service_(&service) {}
  // Two requests: nothing says that they belong together.
  void run(bool stop_between) {
    {
      std::lock_guard<std::mutex> guard(service_->mutex);
      ++service_->used;
      ++runs_;
    }
    if (stop_between) {
      done();
      wait_for(2);
    }
    std::lock_guard<std::mutex> guard(service_->mutex);
    ++service_->used;
    ++service_->failed;
  }

 private:
  Service* service_;
  int runs_ = 0;
};

class Parent {
 public:
  class Tree* made = nullptr;
  std::mutex mutex;
  int count = 0, sum = 0;
  void add(int amount) {
    std::lock_guard<std::mutex> guard(mutex);
    ++count;
    sum += amount;
  }
};

class Child {
 public:
  explicit Child(Parent& parent) : parent_(parent) {}
  void work(bool stop_between) {
    {
      std::lock_guard<std::mutex> guard(parent_.mutex);
      ++parent_.count;
      ++worked_;
    }
    if (stop_between) {
      done();
      wait_for(2);
    }
    std::lock_guard<std::mutex> guard(parent_.mutex);
    parent_.sum += parent_.count;
  }

 private:
  Parent& parent_;
  int worked_ = 0;
};

struct Node {
  int value = 0;
  Node* next = nullptr;
};

class List {
 public:
  void put(Node* node) {
    std::lock_guard<std::mutex> guard(mutex_);
    node->next = head_;
    head_ = node;
    ++head_->value;
  }
  Node* get() {
    std::lock_guard<std::mutex> guard(mutex_);
    Node* node = head_;
    ++node->value;
    head_ = head_->next;
    return node;
  }

 private:
  std::mutex mutex_;
  Node* head_ = nullptr;
};

Service service;

int main() {
#if SERVICE == 1
  User first(service), second(service);
  std::thread other([&] { first.run(true); });
  wait_for(1);
  second.run(false);
#elif SERVICE == 2
  User first(service);
  std::thread other([&] { first.run(true); });
  wait_for(1);
  {
    std::lock_guard<std::mutex> guard(service.mutex);
    ++service.used;
    ++service.failed;
  }
#elif SERVICE == 3
  Parent parent;
  Child child(parent);
  std::thread other([&] { child.work(true); });
  wait_for(1);
  parent.add(1);
#elif SERVICE == 4
  List full, empty;
  full.put(new Node);
  full.put(new Node);
  std::thread other([&] {
    Node* node = full.get();
    done();
    wait_for(2);
    empty.put(node);
    empty.get();
  });
  wait_for(1);
  full.put(new Node);
  empty.put(full.get());
#elif SERVICE == 5
  User first(service);
  std::thread other([&] { first.run(true); });
  wait_for(1);
  service.note();
#endif
  done();
  other.join();
}
