#include "units/views.h"

#include <algorithm>

namespace cleave::units {

Views::Views(const Trace& trace, const Sharing& sharing)
    : reads_(trace.variable_count()), writes_(trace.variable_count()) {
  std::vector<ThreadSections> threads(trace.threads().size(), ThreadSections(trace));
  for (size_t e = 0; e < trace.size(); ++e) {
    const Event& event = trace.events()[e];
    ThreadSections& thread = threads[raw(event.thread)];
    if (!is_access(event.kind)) {
      thread.feed(EventIndex{e});
      continue;
    }
    if (sharing.alone(EventIndex{e}) || !sharing.touched_by_other(event.variable(), event.thread)) continue;
    const View view{raw(event.thread), raw(thread.view())};
    if (reads(event.kind)) note(reads_[event.object], view);
    if (writes(event.kind)) note(writes_[event.object], view);
  }
  for (ByVariable* all : {&reads_, &writes_}) {
    for (std::vector<View>& views : *all) std::sort(views.begin(), views.end());
  }
}

void Views::note(std::vector<View>& views, const View& view) {
  if (views.size() < kMost && (views.empty() || views.back() != view)) views.push_back(view);
}

bool Views::together(const ByVariable& all, VariableId a, VariableId b, ThreadId except) {
  const std::vector<View>&x = all[raw(a)], &y = all[raw(b)];
  for (size_t i = 0, j = 0; i < x.size() && j < y.size();) {
    if (x[i] < y[j]) {
      ++i;
    } else if (y[j] < x[i]) {
      ++j;
    } else {
      if (x[i].thread != raw(except)) return true;
      ++i, ++j;
    }
  }
  return false;
}

}  // namespace cleave::units
