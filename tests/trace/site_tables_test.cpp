#include "tables/site_tables.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace cleave {
namespace {

SiteTables sample() {
  SiteTables t;
  t.source = "bank.cpp";
  t.strings = {"bank.cpp", "Account::balance", "int"};
  t.functions = {
      {.name = "Account::get", .linkage = "_ZN7Account3getEv", .file = 0, .line = 12, .flags = 3, .type = 0}};
  t.types = {{.name = "Account",
              .identifier = "_ZTS7Account",
              .size = 8,
              .fields = {{.name = "balance", .offset = 4, .size = 4, .type_name = "int", .set = "money"}}}};
  t.sites = {{.file = 0,
              .line = 12,
              .column = 3,
              .function = 0,
              .variable = 1,
              .type = 2,
              .object_type = 0,
              .offset = 4}};
  t.globals = {{.name = "total", .size = 4, .initial = {1, 2, 3, 4}}};
  t.units = {{.name = "Account::get", .source = 1, .function = 0, .type = 0}};
  Slot read{.kind = SlotKind::Read,
            .width = 4,
            .address = {Source::Word, 0, 0},
            .value = {Source::Word, 1, 0},
            .site = 0};
  Slot write{.kind = SlotKind::Write,
             .width = 4,
             .address = {Source::Derived, 0, -16},
             .value = {Source::Constant, 0, -1}};
  t.segments = {{.words = 2, .flags = 1, .function = 0, .slots = {read, write}}};
  t.coverage.called_outside = {"puts"};
  return t;
}

TEST(SiteTables, SurviveARoundTrip) {
  Result<SiteTables> back = decode_site_tables(encode(sample()));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back.value(), sample());
}

TEST(SiteTables, AnIndexThatPointsNowhereIsAnError) {
  SiteTables t = sample();
  t.segments[0].slots[0].value.index = 2;
  EXPECT_FALSE(decode_site_tables(encode(t)).ok());
}

TEST(SiteTables, DamagedBytesAreAnErrorOrATableNeverACrash) {
  Random random(1);
  std::vector<uint8_t> good = encode(sample());
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bad = good;
    for (uint64_t n = 1 + random.below(3); n > 0; --n)
      bad[random.below(bad.size())] = static_cast<uint8_t>(random.next());
    if (random.chance(1, 4)) bad.resize(random.below(bad.size() + 1));
    (void)decode_site_tables(bad);
  }
}

}  // namespace
}  // namespace cleave
