#include "base/ownership.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace cleave {
namespace {

std::string user_name(uid_t user) {
  std::vector<char> buffer(4096);
  passwd entry{}, *found = nullptr;
  if (getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return entry.pw_name;
  return fmt::format("user {}", user);
}

// A group that has this user's name and no other members: some systems give every user one, and let it write.
bool is_private_group(gid_t group) {
  std::vector<char> user_buffer(4096), group_buffer(1 << 16);
  passwd user{}, *found_user = nullptr;
  struct group entry{}, *found_group = nullptr;
  if (getpwuid_r(geteuid(), &user, user_buffer.data(), user_buffer.size(), &found_user) != 0 ||
      found_user == nullptr ||
      getgrgid_r(group, &entry, group_buffer.data(), group_buffer.size(), &found_group) != 0 ||
      found_group == nullptr || user.pw_gid != group || std::strcmp(user.pw_name, entry.gr_name) != 0)
    return false;
  for (char** member = entry.gr_mem; *member != nullptr; ++member)
    if (std::strcmp(*member, user.pw_name) != 0) return false;
  return true;
}

bool others_may_write(const struct stat& facts) {
  return (facts.st_mode & S_IWOTH) != 0 ||
         ((facts.st_mode & S_IWGRP) != 0 && !is_private_group(facts.st_gid));
}

Status check(const std::string& path) {
  struct stat facts{};
  if (lstat(path.c_str(), &facts) != 0) return Error{path, std::strerror(errno)};
  if (facts.st_uid != geteuid() && facts.st_uid != 0)
    return Error{path, fmt::format("belongs to {}", user_name(facts.st_uid))};
  const bool only_owners_remove = S_ISDIR(facts.st_mode) && (facts.st_mode & S_ISVTX) != 0;
  if (others_may_write(facts) && !only_owners_remove) return Error{path, "can be written by other users"};
  return Done{};
}

}  // namespace

Status only_we_can_write(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> resolved(realpath(path.c_str(), nullptr), std::free);
  if (!resolved) return Error{path, std::strerror(errno)};
  std::string part = resolved.get();
  for (;;) {
    if (Status status = check(part); !status) return status;
    if (part == "/") return Done{};
    part.resize(std::max<size_t>(part.rfind('/'), 1));
  }
}

}  // namespace cleave
