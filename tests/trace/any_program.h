// Made-up programs that do anything to a small heap.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "trace/fake_program.h"

namespace cleave {

// A program with classes in classes: Bank { long id; Account account; std::vector<int> log; }, methods on
// both, and a standard library whose vectors lie in them.
class Bank {
 public:
  enum Segment : uint32_t {
    kBankId,       // a write of Bank::id, at offset 0
    kVectorBegin,  // a write of std::vector<int>::_M_start, at offset 0
    kInBank,       // a unit on a Bank begins
    kInAccount,    // and on an Account
    kLeave,
    kInNote,    // a unit on a Note begins
    kCopyText,  // hook: Note::text is copied or filled
  };
  Bank() {
    SiteTables& t = r().tables;
    auto site = [&](uint32_t type, uint32_t offset) {
      t.sites.push_back(
          {.file = 0, .line = 70, .function = 1, .type = 1, .object_type = type, .offset = offset});
      return static_cast<uint32_t>(t.sites.size() - 1);
    };
    t.types.push_back({.name = "std::vector<int>",
                       .size = 24,
                       .flags = TypeEntry::kSystemType,
                       .fields = {{.name = "_M_start", .offset = 0, .size = 8, .type_name = "int*"},
                                  {.name = "_M_finish", .offset = 8, .size = 8, .type_name = "int*"}}});
    t.types.push_back(
        {.name = "Bank",
         .size = 48,
         .fields = {{.name = "id", .offset = 0, .size = 8, .type_name = "long"},
                    {.name = "account", .offset = 8, .size = 16, .type_name = "Account", .type = 0},
                    {.name = "log", .offset = 24, .size = 24, .type_name = "std::vector<int>", .type = 1}}});
    t.types.push_back(
        {.name = "Note",
         .size = 64,
         .fields = {{.name = "used", .offset = 0, .size = 8, .type_name = "long"},
                    {.name = "text", .offset = 8, .size = 48, .type_name = "char[48]"},
                    {.name = "seen", .offset = 56, .size = 8, .type_name = "long", .set = "seen"}}});
    t.units.push_back({.name = "Bank::move", .source = 1, .function = 0, .type = 2});
    t.units.push_back({.name = "Account::add", .source = 1, .function = 0, .type = 0});
    t.units.push_back({.name = "Note::add", .source = 1, .function = 0, .type = 3});
    uint32_t id = site(2, 0), begin = site(1, 0), text = site(3, 8);
    Operand first{Source::Word, 0, 0}, second{Source::Word, 1, 0};
    base_ = static_cast<uint32_t>(t.segments.size());
    auto segment = [&](uint16_t words, Slot slot) {
      t.segments.push_back({.words = words, .flags = 1, .function = 0, .slots = {slot}});
    };
    segment(2, {.kind = SlotKind::Write, .width = 8, .address = first, .value = second, .site = id});
    segment(2, {.kind = SlotKind::Write, .width = 8, .address = first, .value = second, .site = begin});
    segment(1, {.kind = SlotKind::UnitBegin, .value = first, .site = 7, .aux = 1});
    segment(1, {.kind = SlotKind::UnitBegin, .value = first, .site = 7, .aux = 2});
    segment(0, {.kind = SlotKind::Exit, .site = 5});
    segment(1, {.kind = SlotKind::UnitBegin, .value = first, .site = 7, .aux = 3});
    segment(0, {.kind = SlotKind::Hook, .site = text});
    r().segments_address = 0x500000;
    r().write_module();
  }
  FakeRecorder& r() { return program.recorder; }
  void run(uint32_t thread, Segment segment, std::vector<uint64_t> words) {
    r().segment(thread, base_ + segment, std::move(words));
  }

  uint64_t address_of(Segment segment) { return r().segment_address(base_ + segment); }

  FakeProgram program;

 private:
  uint32_t base_ = 0;
};

// Anything may happen anywhere in a small heap: objects in objects, blocks that overlap, containers that pass
// on what they hold, locks that become conditions, memory that is given back in pieces.
class AnyProgram : public Bank {
 public:
  AnyProgram(uint64_t seed, uint32_t rounds) : random_(seed) {
    r().start(0, UINT32_MAX);
    r().segment(0, FakeProgram::kCall, {});
    for (uint32_t t = 1; t < kThreads; ++t) r().fork(0, t);
    for (uint32_t t = 1; t < kThreads; ++t) r().start(t, 0);
    for (uint32_t i = 0; i < rounds; ++i) step(static_cast<uint32_t>(random_.below(kThreads)));
  }
  static constexpr uint32_t kThreads = 3;

 private:
  static constexpr uint64_t kPlaces = 24, kApart = 64;
  uint64_t place() { return FakeProgram::kHeapBase + kApart * random_.below(kPlaces); }
  uint64_t word() { return place() + 8 * random_.below(8); }
  void step(uint32_t t) {
    uint64_t value = random_.below(3);
    switch (random_.below(24)) {
      case 0:
      case 1:
      case 2:
        return r().record(t, RecordKind::alloc, {place(), 8 * random_.below(9), r().stamp()});
      case 3:
      case 4:
      case 5:
        return r().record(t, RecordKind::free, {place(), r().stamp()});
      case 6: {
        uint64_t from = word() + random_.below(8);
        if (random_.chance(1, 2))
          return r().record(t, RecordKind::unmap, {from, random_.below(200), r().stamp()});
        return r().record(t, RecordKind::stack, {from, from + random_.below(200)});
      }
      case 7:
      case 8:
        return r().segment(t, FakeProgram::kWrite, {word(), value});
      case 9:
        return r().segment(t, FakeProgram::kRead4, {word() + 4 * random_.below(2), value});
      case 10:
        return r().segment(t, FakeProgram::kWrite4, {word() + random_.below(8), value});
      case 11:
        return r().segment(t, FakeProgram::kField, {word(), value});
      case 12:
        return run(t, kBankId, {word(), value});
      case 13:
        return run(t, kVectorBegin, {word(), value});
      case 14:
        return run(t, kInBank, {word()});
      case 15:
        return run(t, random_.chance(1, 2) ? kInAccount : kInNote, {word()});
      case 16:
      case 17: {
        uint64_t how = random_.below(6);
        return r().record(t, RecordKind::owned, {word(), place() + (how < 4 ? how : 0)});
      }
      case 18: {
        uint64_t bytes = random_.below(100);
        const bool text = random_.chance(1, 3);
        uint64_t hook = text ? address_of(kCopyText) : r().segment_address(FakeProgram::kHook);
        uint64_t address = text ? place() + 8 * random_.below(2) : word() + random_.below(8);
        std::vector<uint64_t> words{3 + (bytes + 7) / 8, hook, address, bytes};
        words.resize(4 + (bytes + 7) / 8, value);
        return r().record(t, random_.chance(1, 2) ? RecordKind::range_write : RecordKind::range_read,
                          std::move(words));
      }
      case 19:
        return program.atomic(t, word(), static_cast<uint32_t>(random_.below(4)), value, value + 1);
      case 20: {
        constexpr RecordKind kKinds[] = {RecordKind::mutex_lock,     RecordKind::mutex_unlock,
                                         RecordKind::exclusive_lock, RecordKind::cond_signal,
                                         RecordKind::barrier_arrive, RecordKind::once_begin};
        return r().on_object(t, kKinds[random_.below(6)], word());
      }
      case 21: {
        uint64_t address = word(), number = r().ticket(address);
        return r().record(t, RecordKind::sem_init, {address, number, r().stamp(), random_.below(3)});
      }
      case 22:
        return r().on_object(t, random_.chance(1, 2) ? RecordKind::sem_post : RecordKind::sem_down, word());
      default:
        return run(t, kLeave, {});
    }
  }
  Random random_;
};

}  // namespace cleave
