// What depends on what inside each function of a program, as plain tables: which values that are read,
// returned by calls or passed as arguments reach which writes, addresses, arguments, results and decisions
// (MoTH 4, definitions 1 and 2). dependence/bitcode computes the tables from the program's bitcode;
// summaries.h composes them across calls; src/units instantiates them along a trace.
//
// The tables are local to a function: a call is an element with operands and a result, whatever it calls.
// There is no alias analysis. What goes through memory that other functions can reach is left to whoever has
// addresses (the trace), or to the summaries, which go by the name of the field.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cleave::dependence {

inline constexpr uint32_t kNoElement = UINT32_MAX;

// Where a value comes from: the result of an element (what a read returned, what a call returned or an
// outside call left in a local variable), or a parameter of the function.
struct Origin {
  enum class Kind : uint8_t { Element, Parameter };
  Kind kind = Kind::Element;
  uint32_t index = 0;  // into FunctionFlow::elements, or the number of the parameter
  friend auto operator<=>(const Origin&, const Origin&) = default;
};
using Origins = std::vector<Origin>;  // sorted, each once

enum class ElementKind : uint8_t {
  Read,    // a load; its result is the value
  Write,   // a store
  Update,  // an atomic read-modify-write or compare-exchange; its result is what it read
  Call,    // of a function that the program defines, or through a pointer
  Opaque,  // of a function that no module of the program defines: its result depends on all its operands
  Copy,    // memcpy and the like: reads a range and writes another one
  Fill,    // memset and the like
};

// An instruction that touches memory which may be shared, or calls. In program order within a block.
struct Element {
  ElementKind kind = ElementKind::Read;
  bool atomic = false;
  bool compares = false;  // a compare-exchange: it writes only where it finds what it expects
  uint32_t segment = UINT32_MAX,
           slot = UINT32_MAX;        // its first slot in the module's SiteTables; UINT32_MAX: none
  uint32_t site = UINT32_MAX;        // index into SiteTables::sites; UINT32_MAX: not known
  std::string callee;                // linkage name; empty: through a pointer, or no call
  Origins value;                     // of a write, update or fill: what is written
  Origins address;                   // of an access: where; of a copy, target and source
  std::vector<Origins> arguments;    // of a call, by number
  std::vector<uint32_t> decided_by;  // branches that decide whether it happens: all of them, sorted
  uint32_t loop = UINT32_MAX;        // innermost loop, numbered within the function
};

// A conditional branch, switch or the like: what its condition depends on.
struct Branch {
  Origins condition;
  uint32_t site = UINT32_MAX;
  uint32_t loop = UINT32_MAX;
  bool library = false;     // it stands in code of a system header
  bool fails = false;       // one of its ways throws, or ends the program
  bool exits_loop = false;  // one of its ways leaves the innermost loop
};

struct FunctionFlow {
  std::string linkage;
  std::string name;  // as people write it
  uint32_t parameters = 0;
  bool internal = false;  // static: other modules may have another function of that name
  std::vector<Element> elements;
  std::vector<Branch> branches;
  Origins returned;                   // data, and the decisions between several values
  std::vector<uint32_t> loop_parent;  // by loop; UINT32_MAX: outermost
};

struct ModuleFlow {
  uint64_t identity = 0;  // as in the trace and in Program
  std::vector<FunctionFlow> functions;
  // Index of the function with that linkage name; UINT32_MAX if there is none.
  uint32_t find(std::string_view linkage) const;
  // Element whose slots begin at (segment, slot), as (function, element); {UINT32_MAX, UINT32_MAX} if there
  // is none.
  struct Place {
    uint32_t function = UINT32_MAX, element = UINT32_MAX;
  };
  Place at(uint32_t segment, uint32_t slot) const;
  // To be called once when the functions are complete.
  void index();

 private:
  std::map<std::string, uint32_t, std::less<>> by_linkage_;
  std::map<std::pair<uint32_t, uint32_t>, Place> by_slot_;
};

struct ProgramFlow {
  std::vector<ModuleFlow> modules;
  std::vector<std::string> remarks;  // modules without usable bitcode, one sentence each
  const ModuleFlow* find(uint64_t identity) const;
};

}  // namespace cleave::dependence
