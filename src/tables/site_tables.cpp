#include "tables/site_tables.h"

#include <zstd.h>

#include <type_traits>

#include "abi/record.h"

namespace cleave {
namespace {

constexpr uint8_t kVersion = 3;
constexpr uint64_t kLargest = uint64_t{1} << 28;  // bytes a table may unpack to; anything above is not ours

class Writer {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<uint8_t>(value | 0x80));
    bytes_.push_back(static_cast<uint8_t>(value));
  }
  template <typename T>
  void integer(const T& value) {
    if constexpr (std::is_signed_v<T>) {
      number((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
    } else if constexpr (std::is_same_v<T, uint32_t>) {
      number(static_cast<uint32_t>(value + 1));  // kNoIndex becomes 0: one byte
    } else {
      number(static_cast<uint64_t>(value));
    }
  }
  void text(const std::string& value) {
    number(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  template <typename T, typename Visit>
  void list(const std::vector<T>& values, Visit visit) {
    number(values.size());
    for (const T& value : values) visit(const_cast<T&>(value));
  }
  std::vector<uint8_t> take() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ >= bytes_.size()) return fail();
      uint8_t byte = bytes_[at_++];
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  template <typename T>
  void integer(T& value) {
    uint64_t coded = number();
    if constexpr (std::is_signed_v<T>) {
      value = static_cast<T>((coded >> 1) ^ (0 - (coded & 1)));
    } else if constexpr (std::is_same_v<T, uint32_t>) {
      value = static_cast<uint32_t>(coded) - 1;
    } else {
      value = static_cast<T>(coded);
    }
  }
  void text(std::string& value) {
    uint64_t size = number();
    if (size > bytes_.size() - at_) return void(fail());
    value.assign(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
  }
  template <typename T, typename Visit>
  void list(std::vector<T>& values, Visit visit) {
    uint64_t count = number();
    if (count > bytes_.size() - at_) return void(fail());  // every element takes a byte at least
    values.reserve(count);
    for (uint64_t i = 0; i < count && !failed_; ++i) visit(values.emplace_back());
  }
  void refuse() { fail(); }
  bool failed() const { return failed_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  uint64_t fail() {
    failed_ = true;
    at_ = bytes_.size();
    return 0;
  }
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

template <typename Archive, typename Enum>
  requires std::is_enum_v<Enum>
void visit_enum(Archive& archive, Enum& value) {
  auto number = static_cast<uint8_t>(value);
  archive.integer(number);
  value = static_cast<Enum>(number);
}

template <typename Archive>
void visit(Archive& a, Operand& o) {
  visit_enum(a, o.source);
  if (o.source == Source::None) return;
  a.integer(o.index);
  a.integer(o.constant);
}

template <typename Archive>
void visit(Archive& a, Slot& s) {
  visit_enum(a, s.kind);
  a.integer(s.width);
  visit(a, s.address);
  visit(a, s.value);
  a.integer(s.site);
  a.integer(s.aux);
}

template <typename Archive>
void visit(Archive& a, SegmentTable& s) {
  a.integer(s.words);
  a.integer(s.flags);
  a.integer(s.function);
  a.list(s.slots, [&](Slot& slot) { visit(a, slot); });
}

// Of the legs of a segment only where they begin is stored.
void visit_segments(Writer& a, const std::vector<SegmentTable>& segments) {
  a.number(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    const SegmentTable& whole = segments[i];
    visit(a, const_cast<SegmentTable&>(whole));
    if ((whole.flags & CLEAVE_SEGMENT_LEGS) == 0) continue;
    std::vector<LegStart> starts;
    size_t slots = segments[++i].slots.size();
    for (; slots < whole.slots.size(); slots += segments[++i].slots.size())
      starts.push_back({static_cast<uint16_t>(slots), segments[i].words});
    a.number(starts.size());
    for (const LegStart& start : starts) {
      a.number(start.slots);
      a.number(start.words);
    }
  }
}

// Each leg has a slot and, but for the first, a word.
bool starts_hold(const SegmentTable& whole, std::span<const LegStart> starts) {
  for (size_t i = 0; i < whole.slots.size(); ++i) {
    const Operand& address = whole.slots[i].address;
    if (address.source == Source::Derived && address.index >= i) return false;
  }
  LegStart before;
  for (const LegStart& start : starts) {
    if (start.slots <= before.slots || start.words < before.words) return false;
    before = start;
  }
  return !starts.empty() && before.slots < whole.slots.size() && before.words < whole.words;
}

void visit_segments(Reader& a, std::vector<SegmentTable>& segments) {
  const uint64_t count = a.number();
  while (!a.failed() && segments.size() < count) {
    SegmentTable& whole = segments.emplace_back();
    visit(a, whole);
    if (a.failed() || (whole.flags & CLEAVE_SEGMENT_LEGS) == 0) continue;
    std::vector<LegStart> starts;
    for (uint64_t left = a.number(); left > 0 && !a.failed(); --left) {
      LegStart start;
      a.integer(start.slots);
      a.integer(start.words);
      starts.push_back(start);
    }
    if (a.failed() || !starts_hold(whole, starts)) return a.refuse();
    std::vector<SegmentTable> legs = leg_tables(whole, starts);
    segments.insert(segments.end(), legs.begin(), legs.end());
  }
  if (segments.size() != count) a.refuse();
}

template <typename Archive>
void visit(Archive& a, SiteEntry& s) {
  for (uint32_t* field : {&s.file, &s.line, &s.column, &s.function, &s.inlined_at, &s.variable, &s.type,
                          &s.object_type, &s.offset, &s.flags}) {
    a.integer(*field);
  }
}

template <typename Archive>
void visit(Archive& a, FunctionEntry& f) {
  a.text(f.name);
  a.text(f.linkage);
  for (uint32_t* field : {&f.file, &f.line, &f.flags, &f.type}) a.integer(*field);
}

template <typename Archive>
void visit(Archive& a, FieldEntry& f) {
  a.text(f.name);
  a.integer(f.offset);
  a.integer(f.size);
  a.text(f.type_name);
  a.integer(f.type);
  a.integer(f.flags);
  a.text(f.set);
}

template <typename Archive>
void visit(Archive& a, TypeEntry& t) {
  a.text(t.name);
  a.text(t.identifier);
  a.integer(t.size);
  a.integer(t.flags);
  a.integer(t.outer);
  a.list(t.fields, [&](FieldEntry& field) { visit(a, field); });
}

template <typename Archive>
void visit(Archive& a, UnitEntry& u) {
  a.text(u.name);
  for (uint32_t* field : {&u.source, &u.function, &u.type}) a.integer(*field);
}

template <typename Archive>
void visit(Archive& a, GlobalEntry& g) {
  a.text(g.name);
  a.integer(g.size);
  for (uint32_t* field : {&g.type, &g.file, &g.line, &g.flags}) a.integer(*field);
  a.text(g.type_name);
  a.list(g.initial, [&](uint8_t& byte) { a.integer(byte); });
}

template <typename Archive>
void visit(Archive& a, Coverage& c) {
  for (uint64_t* field : {&c.functions, &c.functions_skipped, &c.accesses, &c.accesses_unshared,
                          &c.accesses_constant, &c.atomics, &c.ranges, &c.branches, &c.inline_assembly}) {
    a.integer(*field);
  }
  a.list(c.called_outside, [&](std::string& name) { a.text(name); });
}

template <typename Archive>
void visit(Archive& a, SiteTables& t) {
  a.text(t.source);
  a.list(t.strings, [&](std::string& text) { a.text(text); });
  visit_segments(a, t.segments);
  a.list(t.sites, [&](SiteEntry& site) { visit(a, site); });
  a.list(t.functions, [&](FunctionEntry& function) { visit(a, function); });
  a.list(t.types, [&](TypeEntry& type) { visit(a, type); });
  a.list(t.units, [&](UnitEntry& unit) { visit(a, unit); });
  a.list(t.globals, [&](GlobalEntry& global) { visit(a, global); });
  visit(a, t.coverage);
}

// Every index in the tables points at something, so readers need not look again.
bool indexes_hold(const SiteTables& t) {
  auto in = [](uint32_t index, size_t size) { return index == kNoIndex || index < size; };
  for (const SegmentTable& segment : t.segments) {
    if (!in(segment.function, t.functions.size())) return false;
    for (size_t i = 0; i < segment.slots.size(); ++i) {
      const Slot& slot = segment.slots[i];
      if (!in(slot.site, t.sites.size()) || slot.width > 8) return false;
      bool aux_is_unit = slot.kind == SlotKind::UnitBegin || slot.kind == SlotKind::UnitEnd;
      if (!in(slot.aux, aux_is_unit ? t.units.size() : t.functions.size())) return false;
      for (const Operand* o : {&slot.address, &slot.value}) {
        if (o->source == Source::Word && o->index >= segment.words) return false;
        if (o->source == Source::Derived && o->index >= i) return false;
        if (o->source == Source::Global && o->index >= t.globals.size()) return false;
        if (o->source > Source::Constant) return false;
      }
    }
  }
  for (size_t i = 0; i < t.sites.size(); ++i) {
    const SiteEntry& s = t.sites[i];
    if (!in(s.file, t.strings.size()) || !in(s.variable, t.strings.size()) || !in(s.type, t.strings.size()) ||
        !in(s.function, t.functions.size()) || !in(s.object_type, t.types.size()) ||
        (s.inlined_at != kNoIndex && s.inlined_at >= i)) {  // callers first: no cycles
      return false;
    }
  }
  for (const FunctionEntry& f : t.functions) {
    if (!in(f.file, t.strings.size()) || !in(f.type, t.types.size())) return false;
  }
  for (const TypeEntry& type : t.types) {
    if (!in(type.outer, t.types.size())) return false;
    for (const FieldEntry& f : type.fields) {
      if (!in(f.type, t.types.size())) return false;
    }
  }
  for (const UnitEntry& u : t.units) {
    if (!in(u.function, t.functions.size()) || !in(u.type, t.types.size())) return false;
  }
  for (const GlobalEntry& g : t.globals) {
    if (!in(g.type, t.types.size()) || !in(g.file, t.strings.size())) return false;
  }
  return true;
}

}  // namespace

std::vector<SegmentTable> leg_tables(const SegmentTable& whole, std::span<const LegStart> starts) {
  std::vector<Slot> slots = whole.slots;
  for (Slot& slot : slots) {
    if (slot.address.source != Source::Derived) continue;
    const Operand& base = slots[slot.address.index].address;
    slot.address = {base.source, base.index, base.constant + slot.address.constant};
  }
  std::vector<SegmentTable> legs;
  size_t from = 0;
  for (size_t i = 0; i <= starts.size(); ++i) {
    const bool last = i == starts.size();
    const size_t to = last ? slots.size() : starts[i].slots;
    SegmentTable& leg = legs.emplace_back();
    leg.words = last ? whole.words : starts[i].words;
    leg.function = whole.function;
    leg.slots.assign(slots.begin() + static_cast<ptrdiff_t>(from),
                     slots.begin() + static_cast<ptrdiff_t>(to));
    for (const Slot& slot : leg.slots) {
      if (slot.kind <= SlotKind::Write) leg.flags |= CLEAVE_SEGMENT_ACCESS;
      if (slot.kind == SlotKind::Call) leg.flags |= CLEAVE_SEGMENT_CALL;
    }
    from = to;
  }
  return legs;
}

std::vector<uint8_t> encode(const SiteTables& tables) {
  Writer writer;
  visit(writer, const_cast<SiteTables&>(tables));
  std::vector<uint8_t> plain = writer.take();
  std::vector<uint8_t> packed(1 + ZSTD_compressBound(plain.size()));
  packed[0] = kVersion;
  size_t size = ZSTD_compress(packed.data() + 1, packed.size() - 1, plain.data(), plain.size(), 3);
  CLEAVE_CHECK(!ZSTD_isError(size), "zstd refused a buffer of its own bound");
  packed.resize(1 + size);
  return packed;
}

Result<SiteTables> decode_site_tables(std::span<const uint8_t> bytes) {
  if (bytes.empty() || bytes[0] != kVersion) return Error{"", "site tables of an unknown version"};
  bytes = bytes.subspan(1);
  unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargest) {
    return Error{"", "site tables are damaged"};
  }
  std::vector<uint8_t> plain(size);
  size_t got = ZSTD_decompress(plain.data(), plain.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size) return Error{"", "site tables are damaged"};
  Reader reader(plain);
  SiteTables tables;
  visit(reader, tables);
  if (reader.failed() || !reader.at_end() || !indexes_hold(tables))
    return Error{"", "site tables are damaged"};
  return tables;
}

}  // namespace cleave
