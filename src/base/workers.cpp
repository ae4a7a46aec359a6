#include "base/workers.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace cleave {

void run_workers(unsigned count, const std::function<void(unsigned)>& work) {
  std::mutex mutex;
  std::exception_ptr first;
  auto guarded = [&](unsigned number) {
    try {
      work(number);
    } catch (...) {  // an exception that leaves a thread ends the process
      std::lock_guard guard(mutex);
      if (!first) first = std::current_exception();
    }
  };
  count = std::max(1u, count);
  unsigned started = 1;
  {
    std::vector<std::jthread> threads;
    threads.reserve(count - 1);
    try {
      for (; started < count; ++started) threads.emplace_back(guarded, started);
    } catch (const std::system_error&) {  // the limit on threads or on memory
    }
    guarded(0);
    for (unsigned number = started; number < count; ++number) guarded(number);
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace cleave
