// What is said of a byte of a class, asked for again for each object of the class: found once and kept.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>

#include "trace/recorded/modules.h"

namespace cleave {

struct FieldName {
  std::string path;            // field_path, through classes of the system too; empty if no field is there
  std::string shown;           // without what the standard library calls its own
  uint32_t flags = 0;          // VariableInfo::Flags
  std::string set;             // CLEAVE_SET
  uint64_t room = UINT64_MAX;  // field_room
  uint64_t leaf = 0;           // leaf_room
};

class FieldNames {
 public:
  // Valid until the next call. O(1) but for the first time.
  const FieldName& at(const Module& module, uint32_t type, uint64_t offset) const {
    Key key{&module, offset, type};
    auto it = known_.find(key);
    return it != known_.end() ? it->second : make(key);
  }

 private:
  struct Key {
    const Module* module = nullptr;
    uint64_t offset = 0;
    uint32_t type = 0;
    friend bool operator==(const Key&, const Key&) = default;
    friend size_t hash_value(const Key& key) {
      uint64_t mixed = (uint64_t{key.module->number} << 32 | key.type) * 0x9e3779b97f4a7c15ull + key.offset;
      return (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93ull;
    }
  };
  const FieldName& make(const Key& key) const;

  static constexpr size_t kMost = 1 << 16;  // a class may have an array of any size
  mutable boost::unordered_flat_map<Key, FieldName> known_;
};

}  // namespace cleave
