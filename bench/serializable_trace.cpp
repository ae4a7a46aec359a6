#include "serializable_trace.h"

#include <fmt/format.h>

#include <algorithm>

namespace cleave::bench {

void SerializableTrace::name(TraceBuilder& builder, const TraceSize& size) {
  for (uint32_t t = 0; t < size.threads; ++t) builder.add_thread({.name = fmt::format("T{}", t)});
  for (uint32_t v = 0; v < size.variables; ++v) builder.add_variable(fmt::format("V{}", v));
  builder.unit_name("unit");
}

Trace SerializableTrace::tables(const TraceSize& size) {
  TraceBuilder builder;
  name(builder, size);
  return std::move(builder).build();
}

bool SerializableTrace::may(uint32_t thread, uint32_t variable, bool write) const {
  const Variable& v = variables_[variable];
  if (size_.overlap) {
    uint64_t stamp = threads_[thread].stamp;
    return v.written <= stamp && (!write || v.read <= stamp);
  }
  if (v.writer != UINT32_MAX) return v.writer == thread;
  bool mine = std::find(threads_[thread].touched.begin(), threads_[thread].touched.end(), variable) !=
              threads_[thread].touched.end();
  return !write || v.readers == (mine ? 1 : 0);
}

void SerializableTrace::touch(uint32_t thread, uint32_t variable, bool write) {
  Variable& v = variables_[variable];
  if (size_.overlap) {
    (write ? v.written : v.read) = std::max(write ? v.written : v.read, threads_[thread].stamp);
    return;
  }
  std::vector<uint32_t>& touched = threads_[thread].touched;
  if (std::find(touched.begin(), touched.end(), variable) == touched.end()) {
    touched.push_back(variable);
    ++v.readers;
  }
  if (write) v.writer = thread;
}

bool SerializableTrace::next(Event& event) {
  if (made_ == size_.events) return false;
  ++made_;
  uint32_t t = static_cast<uint32_t>(random_.below(size_.threads));
  Thread& thread = threads_[t];
  event = Event{.kind = EventKind::Begin, .thread = ThreadId{t}};
  if (thread.stamp == 0) {
    thread.stamp = ++stamps_;
    thread.left = 1 + static_cast<uint32_t>(random_.below(2 * size_.unit_length));
    event.object = 0;
    return true;
  }
  for (int attempt = 0; thread.left > 0 && attempt < 8; ++attempt) {
    uint32_t variable = static_cast<uint32_t>(random_.below(size_.variables));
    bool write = random_.chance(3, 10);
    if (!may(t, variable, write)) continue;
    touch(t, variable, write);
    --thread.left;
    event.kind = write ? EventKind::Write : EventKind::Read;
    event.object = variable;
    return true;
  }
  for (uint32_t variable : thread.touched) {
    --variables_[variable].readers;
    if (variables_[variable].writer == t) variables_[variable].writer = UINT32_MAX;
  }
  thread = Thread{};
  event.kind = EventKind::End;
  return true;
}

void append_rapid_line(std::string& text, const Event& event, uint64_t location) {
  auto out = std::back_inserter(text);
  switch (event.kind) {
    case EventKind::Begin:
      fmt::format_to(out, "T{}|begin|{}\n", raw(event.thread), location);
      break;
    case EventKind::End:
      fmt::format_to(out, "T{}|end|{}\n", raw(event.thread), location);
      break;
    default:
      fmt::format_to(out, "T{}|{}(V{})|{}\n", raw(event.thread), event.kind == EventKind::Read ? 'r' : 'w',
                     event.object, location);
  }
}

}  // namespace cleave::bench
