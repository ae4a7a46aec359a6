// What is read, and what is written, under one protection: the views of Artho, Havelund and Biere (MoTH 5.1),
// of all threads of a trace.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <vector>

#include "units/sections.h"
#include "units/sharing.h"

namespace cleave::units {

class Views {
 public:
  // O(events).
  Views(const Trace& trace, const Sharing& sharing);

  // Another thread reads, or writes, both locations in one view.
  bool read_together(VariableId a, VariableId b, ThreadId except) const {
    return together(reads_, a, b, except);
  }
  bool written_together(VariableId a, VariableId b, ThreadId except) const {
    return together(writes_, a, b, except);
  }

 private:
  struct View {
    uint32_t thread = 0;
    uint64_t id = 0;
    friend auto operator<=>(const View&, const View&) = default;
  };
  // Of a location: the first views that have it. More than these tell nothing new.
  static constexpr size_t kMost = 256;
  using ByVariable = std::vector<std::vector<View>>;
  static void note(std::vector<View>& views, const View& view);
  static bool together(const ByVariable& all, VariableId a, VariableId b, ThreadId except);
  ByVariable reads_, writes_;
};

}  // namespace cleave::units
