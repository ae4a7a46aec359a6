// cleave-cc and cleave-c++: one executable, told apart by the name it is called by.
#include <string>
#include <string_view>
#include <vector>

#include "driver/command.h"

int main(int argc, char** argv) {
  std::string_view name = argc > 0 ? argv[0] : "cleave-cc";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0: no slash, nothing to remove
  bool cxx = name.find("++") != std::string_view::npos;
  return cleave::run_compiler(cxx, std::vector<std::string>(argv + (argc > 0), argv + argc));
}
