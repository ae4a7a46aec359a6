# Headers of the standard library and of outside libraries are most of the compile time, so they are parsed once per kind
# of target. Cleave's own headers are never precompiled: what a room may include stays visible in its sources. Every source
# file still includes what it uses; CLEAVE_PRECOMPILE=OFF (the asan and tsan presets) compiles without, and shows what is missing.
option(CLEAVE_PRECOMPILE "parse headers from outside once per kind of target" ON)

set(CLEAVE_STANDARD_HEADERS <algorithm> <array> <cstdint> <cstring> <filesystem> <fstream> <functional> <map> <memory>
    <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(CLEAVE_LLVM_HEADERS <llvm/Analysis/ValueTracking.h> <llvm/IR/Constants.h> <llvm/IR/DebugInfo.h> <llvm/IR/Dominators.h>
    <llvm/IR/IRBuilder.h> <llvm/IR/InstIterator.h> <llvm/IR/IntrinsicInst.h> <llvm/IR/Module.h>)

# cleave_precompile(TARGET KIND HEADERS…): targets of one KIND have the same compile options and share one precompiled header,
# which the first of them makes.
function(cleave_precompile target kind)
  if(NOT CLEAVE_PRECOMPILE)
    return()
  endif()
  # Without the time stamp a compiler cache can compare the result.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>)
  get_property(maker GLOBAL PROPERTY CLEAVE_PRECOMPILED_${kind})
  if(maker)
    target_precompile_headers(${target} REUSE_FROM ${maker})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
    set_property(GLOBAL PROPERTY CLEAVE_PRECOMPILED_${kind} ${target})
  endif()
endfunction()
