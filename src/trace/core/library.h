// What is the standard library's and the system's, and so not what a person wrote.
#pragma once

#include <string>
#include <string_view>

namespace cleave {

// Of the standard library: its objects have no life of their own within a container.
inline bool is_library_type(std::string_view type) {
  return type.starts_with("std::") || type.starts_with("__gnu_cxx::");
}

// What memory is called that the standard library has allocated, until it is known whose it is.
inline constexpr std::string_view kLibraryBlock = "std::allocator";

// Whether objects of the class are the library's means, not what a program keeps its data in: the state of a
// future, the count of a shared_ptr, a stop_token, a mutex. A container is not.
bool is_std_internal(std::string_view type);

// A path of fields without what the standard library calls its own: "map_._M_h._M_buckets" → "map_",
// "pairs_._M_elems[3].first" → "pairs_[3].first". Empty if all of it is that.
std::string without_innards(std::string_view path);

// A header of the system: what a person knows is where its code was called from.
inline bool is_system_file(std::string_view file) {
  return file.starts_with("/usr/") && !file.starts_with("/usr/src/");
}

}  // namespace cleave
