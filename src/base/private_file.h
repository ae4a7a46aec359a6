// Files for this user's eyes only: traces and witnesses contain what the program had in its memory.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cleave {

// Opens the file for writing, empty, and gives its descriptor. It is made with mode 0600 whatever the umask
// is; one that is there already and is ours gets that mode. What is not a regular file (a pipe, a device) is
// opened as it is.
Result<int> create_private_file(const std::string& path);

// A whole file of that kind. What stands at the name is replaced, not written through: a link that somebody
// put there is not followed.
Status write_private_file(const std::string& path, std::string_view text);

}  // namespace cleave
