// A statement fails, and the message is fetched from the connection in a second step; another statement on the same
// connection has failed meanwhile, and the message is its.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Connection {
 public:
  // Whether the message belongs to the statement.
  CLEAVE_ATOMIC bool compile(int statement) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    prepare(statement);
    return error_message() == statement;
  }

 private:
  // Fails, as these statements do.
  void prepare(int statement) {
    std::lock_guard lock(mutex_);
    error_ = statement;
  }
  int error_message() {
    std::lock_guard lock(mutex_);
    return error_;
  }

  std::recursive_mutex mutex_;
  int error_ = 0;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 3);
  Connection connection;
  std::atomic<bool> held = true;
  run_threads(options.threads, [&connection, &options, &held](unsigned id) {
    for (unsigned i = 0; i < options.iters; i++)
      if (!connection.compile(static_cast<int>(id) + 1)) held = false;
  });
  return verdict(held, "a statement got another statement's error message");
}
