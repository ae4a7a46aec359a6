#include "feasibility/lift/private_memory.h"

#include <vector>

namespace cleave {

void PrivateMemory::store(uint64_t address, const ThreadCursor& lane, uint32_t bytes) {
  if (!lane.known()) return forget(address, bytes);
  auto width = static_cast<uint8_t>(bytes * 8);
  ExpressionId whole =
      lane.width < width ? pool_.make(Op::ZeroExtend, width, lane.expression) : lane.expression;
  for (uint32_t i = 0; i < bytes; ++i) {
    bytes_[address + i] = {whole,
                           static_cast<uint8_t>(i),
                           static_cast<uint8_t>(bytes),
                           static_cast<uint8_t>(lane.concrete >> (8 * i)),
                           lane.invented,
                           lane.lost};
  }
}

void PrivateMemory::forget(uint64_t address, uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; ++i) bytes_.erase(address + i);
}

ThreadCursor PrivateMemory::load(uint64_t address, uint32_t bytes, uint8_t width) {
  ExpressionId result = kNone<ExpressionId>;
  uint64_t concrete = 0;
  bool whole = true, invented = false, lost = false;
  std::vector<Byte> parts;
  for (uint32_t i = 0; i < bytes; ++i) {
    auto it = bytes_.find(address + i);
    if (it == bytes_.end()) return {.width = width};
    const Byte& byte = it->second;
    concrete |= uint64_t{byte.concrete} << (8 * i);
    invented = invented || byte.invented;
    lost = lost || byte.lost;
    whole =
        whole && byte.index == i && byte.count == bytes && (i == 0 || byte.expression == parts[0].expression);
    parts.push_back(byte);
  }
  if (whole) {
    result = parts[0].expression;
  } else {
    for (uint32_t i = bytes; i-- > 0;) {  // highest byte first
      ExpressionId part = parts[i].count == 1
                              ? parts[i].expression
                              : pool_.make(Op::Extract, 8, parts[i].expression, kNone<ExpressionId>,
                                           kNone<ExpressionId>, static_cast<uint16_t>(parts[i].index * 8));
      result = result == kNone<ExpressionId>
                   ? part
                   : pool_.make(Op::Concat, static_cast<uint8_t>(pool_[result].width + 8), result, part,
                                kNone<ExpressionId>, 8);
    }
  }
  if (width < bytes * 8) result = pool_.make(Op::Extract, width, result);
  return {.expression = result,
          .concrete = truncate(concrete, width),
          .width = width,
          .invented = invented,
          .lost = lost};
}

void PrivateMemory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  std::vector<std::pair<bool, Byte>> moved(bytes);
  for (uint64_t i = 0; i < bytes; ++i) {
    auto it = bytes_.find(from + i);
    if (it != bytes_.end()) moved[i] = {true, it->second};
  }
  for (uint64_t i = 0; i < bytes; ++i) {
    if (moved[i].first) {
      bytes_[to + i] = moved[i].second;
    } else {
      bytes_.erase(to + i);
    }
  }
}

}  // namespace cleave
