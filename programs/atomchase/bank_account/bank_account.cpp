// A joint account of 20 dollars and two cash machines, one of which charges 5. How much each withdraws is an input.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

class BankAccount {
 public:
  explicit BankAccount(int balance) : balance_(balance) {}
  int get_balance() {
    std::lock_guard lock(mutex_);
    return balance_;
  }
  void set_balance(int balance) {
    std::lock_guard lock(mutex_);
    balance_ = balance;
  }
  std::recursive_mutex& monitor() { return mutex_; }

 private:
  std::recursive_mutex mutex_;
  int balance_;
};

// What was paid out, fee included.
CLEAVE_ATOMIC static int withdraw(BankAccount& account, int amount, int fee) {
#ifdef FIXED
  std::lock_guard whole(account.monitor());
#endif
  int total = amount + fee;
  int balance = account.get_balance();
  if (total > balance) return 0;
  account.set_balance(balance - total);
  return total;
}

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 2, 1);  // Alice and Bob, as in the figure
  int alice = static_cast<int>(option_number(argc, argv, "--alice", 10));
  int bob = static_cast<int>(option_number(argc, argv, "--bob", 10));
  bool held = true;
  for (unsigned i = 0; i < options.iters && held; i++) {
    BankAccount account(20);
    int paid[2] = {};
    run_threads(2, [&account, &paid, alice, bob](unsigned id) {
      if (id == 0)
        paid[0] = withdraw(account, static_cast<int>(cleave_input_int("alice", alice)), 0);
      else
        paid[1] = withdraw(account, static_cast<int>(cleave_input_int("bob", bob)), 5);
    });
    held = account.get_balance() == 20 - paid[0] - paid[1];
  }
  return verdict(held, "more was paid out than was taken from the account");
}
