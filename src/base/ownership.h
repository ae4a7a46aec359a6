// Whose a file is: the one predicate that decides whether what a file says may be acted upon.
#pragma once

#include <string>

#include "base/result.h"

namespace cleave {

// Done if nobody but this user and root can have put the file where it is or changed it: the file and all
// folders above it, links resolved, belong to this user or to root, and nobody else may write to them. The
// user's private group counts as the user. A folder in which everybody may write but only owners may remove
// (/tmp) is no danger to what lies in it. Otherwise an Error that says what is wrong.
//
// Access control lists are not looked at.
Status only_we_can_write(const std::string& path);

}  // namespace cleave
