// Patterns of names in --units and cleave.toml: `*` stands for any characters, `?` for one; everything else
// is itself (so that `operator[]` needs no escape).
#pragma once

#include <string_view>

namespace cleave {

// O(pattern × name) at worst.
bool matches_glob(std::string_view pattern, std::string_view name);

}  // namespace cleave
