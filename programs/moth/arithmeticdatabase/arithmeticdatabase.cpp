// Two tables: expressions with the key of their result, results by key. A new expression looks for its result, else
// takes the largest key plus one, inserts the result, then the expression: four critical sections.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class Database {
 public:
  CLEAVE_ATOMIC void insert_new_expression(int expression, int value) {
#ifdef FIXED
    std::lock_guard whole(mutex_);
#endif
    int key = get_key_by_result(value);
    if (key < 0) {
      key = get_max_key() + 1;
      insert_result(key, value);
    }
    insert_expression(expression, key);
  }

  // Keys and results are unique.
  bool consistent() {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < results_; i++)
      for (int j = 0; j < i; j++)
        if (result_keys_[i] == result_keys_[j] || result_values_[i] == result_values_[j]) return false;
    return true;
  }

 private:
  int get_key_by_result(int value) {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < results_; i++)
      if (result_values_[i] == value) return result_keys_[i];
    return -1;
  }
  int get_max_key() {
    std::lock_guard lock(mutex_);
    int most = -1;
    for (int i = 0; i < results_; i++)
      if (result_keys_[i] > most) most = result_keys_[i];
    return most;
  }
  void insert_result(int key, int value) {
    std::lock_guard lock(mutex_);
    if (results_ == kMost) return;
    result_keys_[results_] = key;
    result_values_[results_] = value;
    results_++;
  }
  void insert_expression(int expression, int key) {
    std::lock_guard lock(mutex_);
    if (expressions_ == kMost) return;
    expression_texts_[expressions_] = expression;
    expression_keys_[expressions_] = key;
    expressions_++;
  }

  static constexpr int kMost = 256;
  std::recursive_mutex mutex_;
  int results_ = 0, result_keys_[kMost] = {}, result_values_[kMost] = {};
  int expressions_ = 0, expression_texts_[kMost] = {}, expression_keys_[kMost] = {};
};

// The value of a random expression in reverse Polish notation, eleven digits and ten operators, from few values so that
// clients often have the same.
static int evaluate(uint64_t seed) {
  int stack[11], depth = 0;
  for (int digit = 0; digit < 11; digit++) stack[depth++] = static_cast<int>(next_random(&seed) % 10);
  while (depth > 1) {
    int right = stack[--depth], left = stack[--depth];
    uint64_t choice = next_random(&seed) % 3;
    stack[depth++] = (choice == 0 ? left + right : choice == 1 ? left - right : left * right) % 100;
  }
  return stack[0] % 3;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 5, 1);
  bool held = true;
  for (unsigned round = 0; round < options.iters && held; round++) {
    Database database;
    run_threads(options.threads, [&database, &options, round](unsigned id) {
      uint64_t random = options.seed + 100 * round + id;
      for (int i = 0; i < 5; i++) {
        uint64_t expression = next_random(&random);
        database.insert_new_expression(static_cast<int>(expression % 1000), evaluate(expression));
      }
    });
    held = database.consistent();
  }
  return verdict(held, "a key or a result is in the table twice");
}
