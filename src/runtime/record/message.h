// Sentences of the runtime on standard error: `cleave: …`. Rare, without libc, one write each.
#pragma once

namespace cleave::runtime {

void say(const char* sentence, const char* detail = "", const char* more = "");
// Broken invariant of the runtime: says it and aborts.
[[noreturn]] void fail(const char* sentence, const char* detail = "");

}  // namespace cleave::runtime
