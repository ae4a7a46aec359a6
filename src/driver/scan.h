// What a compiler's command line asks for, as far as Cleave has to know.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace cleave {

struct CommandScan {
  bool has_input = false;    // anything to compile or to link
  bool stops_early = false;  // -c, -S, -E, -fsyntax-only, --version …: no link
  bool relocatable = false;  // -r: an object comes out, not a program
  bool is_static = false;    // -static, -static-pie
  bool narrow = false;       // -m32, -mx32
  bool emulated_tls = false;
  std::string target;  // as given, empty if not
  bool lto = false;
  bool vectorize = false;            // asked for by name, not by -O
  bool low_debug = false;            // the last -g flag asks for less than full debug information
  std::set<std::string> sanitizers;  // those that are on at the end of the line
};

// `arguments` with response files replaced by what stands in them, as far as they can be read.
std::vector<std::string> expand_response_files(const std::vector<std::string>& arguments);
CommandScan scan_command(const std::vector<std::string>& expanded);

}  // namespace cleave
