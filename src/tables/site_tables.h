// What a module (translation unit) carries about itself: what each word of each segment means, and the names
// behind it. The pass writes it into the binary, the runtime copies it into the trace unread, everybody else
// reads it from there. encode and decode are one archive, so they cannot disagree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cleave {

inline constexpr uint32_t kNoIndex = UINT32_MAX;

// An event within a segment, in program order.
enum class SlotKind : uint8_t {
  Read = 1,       // address, value
  Write = 2,      // address, value
  Enter = 3,      // the function begins; aux: function. If it can be landed in, value: its frame token
  Exit = 4,       // the function returns
  Landing = 5,    // control is back in a frame by exception or longjmp; value: its frame token
  UnitBegin = 6,  // aux: unit; value: `this` or the first parameter if the unit has an object
  UnitEnd = 7,    // aux: unit
  Call = 8,  // last slot of its segment: a call follows; aux: function if known, value: target if indirect
  CallResult = 9,  // value returned by code that may not be instrumented
  Switch = 10,     // value: the value switched on
  Hook = 11,  // the record of a hook (atomic, fence, range) refers to this segment for its site; no words
};

enum class Source : uint8_t {
  None = 0,
  Word = 1,      // payload word `index`; of an address, plus `constant`
  Derived = 2,   // address only: address of slot `index` of this segment plus `constant`
  Global = 3,    // address only: globals[index] plus `constant`
  Constant = 4,  // value only: `constant`
};

struct Operand {
  Source source = Source::None;
  uint32_t index = 0;
  int64_t constant = 0;
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Slot {
  SlotKind kind{};
  uint8_t width = 0;  // bytes accessed, 1 to 8; wider accesses are several slots
  Operand address;
  Operand value;
  uint32_t site = kNoIndex;
  uint32_t aux = kNoIndex;
  friend bool operator==(const Slot&, const Slot&) = default;
};

// The tables of the legs of a segment (abi/record.h) stand behind its own, each with its own slots only.
struct SegmentTable {
  uint16_t words = 0;
  uint16_t flags = 0;
  uint32_t function = kNoIndex;
  std::vector<Slot> slots;
  friend bool operator==(const SegmentTable&, const SegmentTable&) = default;
};

// Where a leg but the first begins: slots and words of the segment before it.
struct LegStart {
  uint16_t slots = 0, words = 0;
};
// The tables of all legs. Addresses that derive from one in an earlier leg are taken from that one's word,
// which the record of a leg has too.
std::vector<SegmentTable> leg_tables(const SegmentTable& whole, std::span<const LegStart> starts);

struct SiteEntry {
  uint32_t file = kNoIndex, line = 0, column = 0;
  uint32_t function = kNoIndex;     // the source function: of an inlined access, the inlined one
  uint32_t inlined_at = kNoIndex;   // site of the call it was inlined into, kNoIndex if none
  uint32_t variable = kNoIndex;     // string: total, Account::balance
  uint32_t type = kNoIndex;         // string: type of the access
  uint32_t object_type = kNoIndex;  // types[]: the outermost class the access lies in, if known
  uint32_t offset = 0;              // of the access from the start of that class
  // Of an access: it is to what the function's own object (`this`, or the struct that its first parameter
  // points to) leads to by pointers. Of a call: it is of a method, or a function of C, on such an object.
  enum Flags : uint32_t { kThroughOwn = 1 };
  uint32_t flags = 0;
  friend bool operator==(const SiteEntry&, const SiteEntry&) = default;
};

struct FunctionEntry {
  enum Flags : uint32_t {
    kMethod = 1,
    kPublic = 2,
    kProtected = 4,
    kStatic = 8,
    kConstructor = 16,
    kDestructor = 32,
    kStructFunction = 64,
    kAtomic = 128,
    kNotAtomic = 256,
    kSystem = 512,
    kGetter = 1024,
    kSetter = 2048,
    kFriend = 4096
  };
  std::string name;     // Account::withdraw
  std::string linkage;  // as in the symbol table
  uint32_t file = kNoIndex, line = 0;
  uint32_t flags = 0;
  uint32_t type = kNoIndex;  // types[]: class of a method, struct of the first parameter
  friend bool operator==(const FunctionEntry&, const FunctionEntry&) = default;
};

struct FieldEntry {
  enum Flags : uint32_t {
    kConst = 1,
    kAtomic = 2,
    kStaticMember = 4,
    kBase = 8,
    kOwned = 16,
    kPrivate = 32,
    kProtectedField = 64,
    kPointer = 128
  };
  std::string name;
  uint64_t offset = 0, size = 0;
  std::string type_name;
  uint32_t type = kNoIndex;  // types[] if it is a class held by value (member or base)
  uint32_t flags = 0;
  std::string set;  // CLEAVE_SET, empty if none
  friend bool operator==(const FieldEntry&, const FieldEntry&) = default;
};

struct TypeEntry {
  enum Flags : uint32_t { kSystemType = 1, kUnion = 2, kIterator = 4 };
  std::string name;        // qualified
  std::string identifier;  // mangled name (_ZTS…); empty in C
  uint64_t size = 0;
  uint32_t flags = 0;
  uint32_t outer = kNoIndex;  // types[]: the class it is nested in
  std::vector<FieldEntry> fields;
  friend bool operator==(const TypeEntry&, const TypeEntry&) = default;
};

struct UnitEntry {
  std::string name;
  uint32_t source = 0;  // UnitSource
  uint32_t function = kNoIndex;
  uint32_t type = kNoIndex;
  friend bool operator==(const UnitEntry&, const UnitEntry&) = default;
};

struct GlobalEntry {
  enum Flags : uint32_t {
    kFileStatic = 1,
    kThreadLocal = 2,
    kConstant = 4,
    kZeroInitialised = 8,
    kClassStatic = 16
  };
  std::string name;  // as in the source; empty when it is not a variable
  uint64_t size = 0;
  uint32_t type = kNoIndex;
  uint32_t file = kNoIndex, line = 0;
  uint32_t flags = 0;
  std::string type_name;
  std::vector<uint8_t> initial;  // contents at start when not all zero and at most 4 KiB
  friend bool operator==(const GlobalEntry&, const GlobalEntry&) = default;
};

// What was seen and what was left out, for `cleave trace stats`.
struct Coverage {
  uint64_t functions = 0, functions_skipped = 0;
  uint64_t accesses = 0, accesses_unshared = 0, accesses_constant = 0;
  uint64_t atomics = 0, ranges = 0, branches = 0, inline_assembly = 0;
  std::vector<std::string> called_outside;  // functions called that this module does not define
  friend bool operator==(const Coverage&, const Coverage&) = default;
};

struct SiteTables {
  std::string source;
  std::vector<std::string> strings;  // files, variables, types of accesses
  std::vector<SegmentTable> segments;
  std::vector<SiteEntry> sites;
  std::vector<FunctionEntry> functions;
  std::vector<TypeEntry> types;
  std::vector<UnitEntry> units;
  std::vector<GlobalEntry> globals;  // in the order of cleave_module::globals
  Coverage coverage;
  // Empty for kNoIndex.
  std::string_view text(uint32_t index) const {
    return index == kNoIndex ? std::string_view() : strings[index];
  }
  friend bool operator==(const SiteTables&, const SiteTables&) = default;
};

// Bytes for the binary: zstd over varints. Any input that encode did not write gives an Error, never a crash.
std::vector<uint8_t> encode(const SiteTables& tables);
Result<SiteTables> decode_site_tables(std::span<const uint8_t> bytes);

}  // namespace cleave
