// What calls of functions outside the program mean to the analysis: locks, threads, memory. By symbol, so
// that std::mutex, std::thread and their like are known by the functions of libc and libstdc++ that they end
// in.
#pragma once

#include <llvm/IR/InstrTypes.h>

#include <cstdint>

namespace cleave::static_analysis {

enum class CallKind : uint8_t {
  Other,
  Acquire,        // lock: operand
  AcquireShared,  // reader side
  TryAcquire,     // holds where the result is `success`
  Release,
  Wait,         // on a condition variable: releases and acquires the lock
  StartThread,  // pthread_create, thrd_create: routine and argument are operands
  StartState,   // std::thread: a state object whose virtual function runs
  StartTeam,    // OpenMP: a team of threads runs the routine, and is joined when the call returns
  Join,
  Allocate,    // the result points to new memory
  Reallocate,  // the result points to new memory with the contents of operand 0
  Free,
  Once,       // the routine runs here, at most once
  Owns,       // __cleave_owns: container, block
  UnitBegin,  // marks of the pass
  UnitEnd,
  Copy,  // memcpy and the like: target, source
  Fill,
  ReturnsFirst,  // strcpy and the like: the result is operand 0
  Harmless,      // touches no memory of the program, and its result is no pointer
};

struct KnownCall {
  CallKind kind = CallKind::Other;
  int operand = -1;             // the lock, the handle, the state
  int routine = -1;             // StartThread, StartTeam, Once
  int argument = -1;            // StartThread: first operand that the routine gets
  bool success_is_zero = true;  // TryAcquire
};

// Of a direct call; Other for calls through pointers and of functions that mean nothing special. A function
// that the program defines itself is never known.
KnownCall known_call(const llvm::CallBase& call);

}  // namespace cleave::static_analysis
