// Marks: calls that part one of the pass puts where units begin and end, before anything is inlined, and that
// part two replaces by slots. To the optimiser a mark is a function that may read and write all memory, keeps
// no pointer, always returns, and may not be merged with another: no access moves across it, and it is never
// removed. Two kinds are weaker. Marks of units that only --units can ask for touch memory that nobody else
// sees. Marks of methods that write nothing (and were not annotated) only read: a read that the optimiser
// knows to be the same in every round of a loop leaves the loop, as it would without marks. A unit that is
// empty then is taken out.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace cleave {

inline constexpr const char* kUnitBeginMark = "__cleave_mark_unit_begin";  // (i32 unit, ptr object or null)
inline constexpr const char* kUnitEndMark = "__cleave_mark_unit_end";      // (i32 unit, or -1: the innermost)
// Named metadata, one node a unit: {name, i32 source, DISubprogram or null, class or null}.
inline constexpr const char* kUnitList = "cleave.units";
inline constexpr uint32_t kRoundSource = 6;    // of a round of a loop, beside the numbers of UnitSource
inline constexpr uint32_t kMayWaitSource = 7;  // of a place where a thread may wait on a condition variable
inline constexpr const char* kPlaceMetadata =
    "cleave.place";  // {variable, type, class or null, i64 offset, i64 through own}
inline constexpr const char* kSourcePlaceMetadata = "cleave.place.source";  // the same, for what a copy reads
inline constexpr const char* kSlotMetadata =
    "cleave.slot";  // {i32 segment, i32 first slot} of the module's tables
inline constexpr const char* kPinMetadata = "cleave.pin";  // volatile only until it is recorded (pins.h)
inline constexpr const char* kDoneFlag = "cleave.instrumented";

bool is_unit_begin(const llvm::CallBase& call);
bool is_unit_end(const llvm::CallBase& call);
// Once the records are in, or where there are none: a mark is no function that anybody defines.
void erase_marks(llvm::Function& function);
// Takes out units that begin and end in one block with no access, call or other effect between.
bool erase_empty_units(llvm::Function& function);
inline bool is_mark(const llvm::CallBase& call) { return is_unit_begin(call) || is_unit_end(call); }

}  // namespace cleave
