#include "trace/core/library.h"

#include <algorithm>
#include <iterator>

namespace cleave {

bool is_std_internal(std::string_view type) {
  constexpr std::string_view kPrefixes[] = {kLibraryBlock,          "std::__future_base",
                                            "std::__basic_future",  "std::future",
                                            "std::shared_future",   "std::promise",
                                            "std::packaged_task",   "std::_Sp_",
                                            "std::__shared_count",  "std::__weak_count",
                                            "std::thread",          "std::jthread",
                                            "std::stop_",           "std::_Stop",
                                            "std::__exception_ptr", "std::once_flag",
                                            "std::mutex",           "std::condition_variable",
                                            "std::latch",           "std::barrier",
                                            "std::__detail::__w",   "std::counting_semaphore"};
  // What a future is made of goes by the name of whatever holds it: std::_Head_base<0,
  // std::__future_base::_Result<int>*>.
  if (type.starts_with("std::") && type.find("std::__future_base") != std::string_view::npos) return true;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return type.starts_with(prefix); });
}

std::string without_innards(std::string_view path) {
  std::string kept;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(part.size() < path.size() ? part.size() + 1 : part.size());
    const bool elements = part.starts_with("_M_elems");  // of a std::array: the index is the person's own
    if (elements)
      part.remove_prefix(std::string_view("_M_elems").size());
    else if (part.starts_with("_M_") || part.starts_with("__"))
      break;
    else if (!kept.empty())
      kept += '.';
    kept += part;
  }
  return kept;
}

}  // namespace cleave
