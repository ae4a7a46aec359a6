// Double-checked locking: whoever finds a seat without ticket makes one under the lock, but shows it to the others
// before its fields are filled in; they look without the lock.
#include <mutex>

#include "cleave/annotate.h"
#include "common/program.h"

struct Ticket {
  Racy<int> flight = 0, airline = 0, status = 0;
};

class Seat {
 public:
  // Whether the ticket is complete.
  CLEAVE_ATOMIC bool order() {
#ifdef FIXED
    std::lock_guard lock(mutex_);
    if (ticket_ == nullptr) create();
#else
    if (ticket_ == nullptr) {
      std::lock_guard lock(mutex_);
      if (ticket_ == nullptr) create();
    }
#endif
    Ticket* ticket = ticket_;
    return ticket->flight == 747 && ticket->airline == 11 && ticket->status == 1;
  }

 private:
  void create() {
    ticket_ = &place_;
    place_.flight = 747;
    place_.airline = 11;
    place_.status = 1;
  }

  Racy<Ticket*> ticket_ = nullptr;
  std::mutex mutex_;
  Ticket place_;
};

int main(int argc, char** argv) {
  options options = read_options(argc, argv, 6, 1);
  constexpr int kSeats = 10;
  std::atomic<int> incomplete = 0;
  for (unsigned round = 0; round < options.iters && incomplete == 0; round++) {
    std::vector<Seat> seats(kSeats);
    run_threads(options.threads, [&seats, &incomplete](unsigned) {
      for (Seat& seat : seats)
        if (!seat.order()) incomplete++;
    });
  }
  return verdict(incomplete == 0, "a ticket was seen before it was filled in");
}
