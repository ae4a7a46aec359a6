#include "trace/library.h"

namespace cleave {

std::string without_innards(std::string_view path) {
  std::string kept;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('.'));
    path.remove_prefix(part.size() < path.size() ? part.size() + 1 : part.size());
    const bool elements = part.starts_with("_M_elems");  // of a std::array: the index is the person's own
    if (elements) part.remove_prefix(std::string_view("_M_elems").size());
    else if (part.starts_with("_M_") || part.starts_with("__")) break;
    else if (!kept.empty()) kept += '.';
    kept += part;
  }
  return kept;
}

}  // namespace cleave
