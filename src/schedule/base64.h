// Bytes as text, for schedules inside JSON (RFC 4648, with padding).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cleave {

std::string to_base64(std::span<const uint8_t> bytes);
// False for anything that to_base64 did not write.
bool from_base64(std::string_view text, std::string* bytes);

}  // namespace cleave
