// A connection shared by GUI threads: is it open?, then send, in two critical sections; and closing is two as well,
// first the socket, then the counter.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Connection {
 public:
  void connect() {
    std::lock_guard lock(mutex_);
    closed_ = false;
    bytes_ = 0;
  }

  CLEAVE_ATOMIC void try_send_message(int bytes) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    if (is_connected()) send(bytes);
  }

  CLEAVE_ATOMIC void disconnect() {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    close_socket();
    reset_counter();
  }

  bool is_connected() {
    std::lock_guard lock(mutex_);
    return !closed_;
  }

  bool consistent() const { return sent_when_closed_ == 0 && !(closed_ && bytes_ > 0); }

 private:
  void send(int bytes) {
    std::lock_guard lock(mutex_);
    if (closed_) sent_when_closed_++;
    bytes_ += bytes;
  }

  void close_socket() {
    std::lock_guard lock(mutex_);
    if (!closed_) closed_ = true;
  }

  void reset_counter() {
    std::lock_guard lock(mutex_);
    bytes_ = 0;
  }

  std::recursive_mutex mutex_;
  bool closed_ = true;
  int bytes_ = 0;
  int sent_when_closed_ = 0;
};

// Presses buttons at random until it hits the one that disconnects.
static void gui_thread(Connection& connection, uint64_t seed) {
  for (int i = 0; i < 100; i++) {
    uint64_t button = next_random(&seed) % 10;
    if (button == 0) {
      connection.disconnect();
      return;
    }
    connection.try_send_message(1 + static_cast<int>(next_random(&seed) % 100));
  }
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 10, 1);
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    Connection connection;
    connection.connect();
    run_threads(options.threads,
                [&connection, &options, i](unsigned id) { gui_thread(connection, options.seed + 1000 * i + id); });
    held = connection.consistent();
  }
  return verdict(held, "a message was sent over a closed connection");
}
