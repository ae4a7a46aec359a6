// An event in words, for messages and for `cleave trace dump`.
#pragma once

#include <string>

#include "trace/core/trace.h"

namespace cleave {

// What the event is about: the name of its variable, lock, thread, unit …; empty if it has nothing.
std::string object_name(const Trace& names, const Event& event);
// bank.cpp:12, or empty.
std::string place_of(const Trace& names, SiteId site);
// A value of an access: a number, or `freed` (no_value.h).
std::string value_text(uint64_t value);
// T1 write Account::balance 10 (bank.cpp:12)
std::string describe(const Trace& names, const Event& event);

}  // namespace cleave
