#pragma once

#include <functional>

namespace cleave {

// Runs work(0) … work(count - 1), each in a thread of its own; the caller's thread takes work(0). Returns
// when all have ended, and then throws what the first of them threw. A thread that cannot be started is work
// that the caller's thread does afterwards.
void run_workers(unsigned count, const std::function<void(unsigned)>& work);

}  // namespace cleave
