#include "trace/fake_program.h"

#include <fmt/format.h>

namespace cleave {
namespace {

Operand word(uint32_t index) { return {Source::Word, index, 0}; }

}  // namespace

FakeProgram::FakeProgram() {
  SiteTables& t = recorder.tables;
  t.source = "fake.cpp";
  t.strings = {"fake.cpp", "long", "Account::balance"};
  t.functions = {{.name = "work", .linkage = "work", .file = 0, .line = 1},
                 {.name = "helper", .linkage = "helper", .file = 0, .line = 50}};
  for (uint32_t line = 1; line <= 20; ++line)
    t.sites.push_back({.file = 0, .line = line, .column = 3, .function = 0, .type = 1});
  t.sites.push_back(
      {.file = 0, .line = 51, .function = 1, .inlined_at = 9, .type = 1});  // site 20, inlined at line 10
  t.types = {{.name = "Account",
              .identifier = "_ZTS7Account",
              .size = 16,
              .fields = {{.name = "balance", .offset = 8, .size = 8, .type_name = "long"}}}};
  t.sites.push_back({.file = 0,
                     .line = 60,
                     .function = 1,
                     .variable = 2,
                     .type = 1,
                     .object_type = 0,
                     .offset = 8});  // site
                                     // 21
  t.units = {{.name = "unit", .source = 0, .function = 0}};
  for (uint32_t i = 0; i < kGlobals; ++i) {
    t.globals.push_back({.name = fmt::format("g{}", i),
                         .size = 8,
                         .flags = GlobalEntry::kZeroInitialised,
                         .type_name = "long"});
    recorder.globals.push_back(global(i));
  }
  for (uint32_t i = 0; i < kLocks; ++i) {
    t.globals.push_back({.name = fmt::format("m{}", i),
                         .size = 40,
                         .flags = GlobalEntry::kZeroInitialised,
                         .type_name = "pthread_mutex_t"});
    recorder.globals.push_back(lock(i));
  }
  auto segment = [&](uint16_t words, std::vector<Slot> slots) {
    t.segments.push_back({.words = words, .flags = 1, .function = 0, .slots = std::move(slots)});
  };
  Slot read{.kind = SlotKind::Read, .width = 8, .address = word(0), .value = word(1), .site = 1};
  Slot write{.kind = SlotKind::Write, .width = 8, .address = word(0), .value = word(1), .site = 2};
  Slot next = write;
  next.address = {Source::Derived, 0, 0};
  next.value = word(2);
  segment(2, {read});
  segment(2, {write});
  segment(3, {read, next});
  segment(1, {{.kind = SlotKind::Enter, .value = word(0), .site = 4, .aux = 1}});
  segment(0, {{.kind = SlotKind::Exit, .site = 5}});
  segment(0, {{.kind = SlotKind::Call, .site = 6, .aux = 1}});
  segment(0, {{.kind = SlotKind::UnitBegin, .site = 7, .aux = 0}});
  segment(0, {{.kind = SlotKind::UnitEnd, .site = 8, .aux = 0}});
  segment(0, {{.kind = SlotKind::Hook, .site = 10}});
  read.width = write.width = 4;
  segment(2, {read});
  segment(2, {write});
  segment(1, {{.kind = SlotKind::Landing, .value = word(0), .site = 11}});
  read.width = 8;
  read.site = 20;
  segment(2, {read});
  write.width = 8;
  write.site = 21;
  segment(2, {write});
  Slot before = read;
  before.site = 1;
  segment(3, {before, next});
  recorder.write_module();
}

}  // namespace cleave
