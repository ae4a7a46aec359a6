// Memory that a call touches as a whole: copies, fills, string functions, and the library calls that fill a
// buffer.
//
// Lengths of strings are measured by strlen right before the call. A comparison counts as a read of both
// strings up to the end of the shorter one, a search as a read of the whole string: more than what it may
// have looked at, never less.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstrTypes.h>

#include <vector>

namespace cleave {

struct RangeLength {
  enum Kind {
    Bytes,           // `count`
    String,          // `text` and its end
    BoundedString,   // the same, `count` bytes at most
    ShorterString,   // the shorter of `text` and `other`, and its end
    ShorterBounded,  // the same, `count` bytes at most
    Result,          // what the call returned, if positive
    ResultTimes,     // what the call returned, times `count`
    Printed,         // what the call returned and a zero byte, `count` bytes at most
    ReturnedString,  // the string that the call returned, if any
    Object           // `bytes`, if there is an address
  } kind = Bytes;
  llvm::Value* count = nullptr;
  llvm::Value* text = nullptr;
  llvm::Value* other = nullptr;
  uint64_t bytes = 0;
};

struct Range {
  bool write;
  llvm::Value* address;
  RangeLength length;
  bool ends = false;  // a local variable that is gone from here on
};

// What the call reads before and writes after; empty if it is not a function of this kind. Intrinsics
// included.
std::vector<Range> ranges_of(llvm::CallBase& call);

// What a call into the C library leaves behind its pointers (a time, a file's facts, where a number ended),
// so that whoever reads it finds a writer. Of a call that stays a call otherwise.
std::vector<Range> results_behind_pointers(llvm::CallBase& call);

// The length as an i64; lengths with `Result` or `Returned` only after the call.
llvm::Value* emit_length(llvm::IRBuilder<>& builder, const RangeLength& length);

}  // namespace cleave
