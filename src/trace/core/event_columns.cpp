#include "trace/core/event_columns.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "trace/text/text_words.h"

namespace cleave {
namespace {

constexpr size_t kSlack = 8;        // bytes behind packed bits, so that a value is one unaligned load
constexpr unsigned kMostBits = 57;  // that a load of 8 bytes holds at any offset within a byte
constexpr size_t kLongestText = size_t{1} << 26;

// Block: count, count of updates (4 bytes each), then every column: form, bits, bytes (4), body. Then the
// program data: how many (4), and for each its event (4) and two texts (4 + bytes).
void put32(std::string& out, uint64_t value) {
  auto word = static_cast<uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&word), sizeof word);
}

bool take32(std::span<const uint8_t>& rest, uint32_t& value) {
  if (rest.size() < sizeof value) return false;
  std::memcpy(&value, rest.data(), sizeof value);
  rest = rest.subspan(sizeof value);
  return true;
}

std::string pack_bits(const std::vector<uint64_t>& values, unsigned bits) {
  std::string out((values.size() * bits + 7) / 8 + kSlack, '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    size_t bit = i * bits;
    uint64_t word;
    std::memcpy(&word, out.data() + bit / 8, sizeof word);
    word |= values[i] << (bit % 8);
    std::memcpy(out.data() + bit / 8, &word, sizeof word);
  }
  return out;
}

// Whole bytes a value: what repeats in them is found.
std::string pack_bytes(const std::vector<uint64_t>& values, unsigned bytes) {
  std::string plain(values.size() * bytes, '\0');
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(plain.data() + i * bytes, &values[i], bytes);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  CLEAVE_CHECK(!ZSTD_isError(size), "zstd refused a buffer of its own bound");
  packed.resize(size);
  return packed;
}

unsigned bytes_for(unsigned bits) { return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8; }

void write_column(std::string& out, const std::vector<uint64_t>& values) {
  uint64_t all = 0;
  for (uint64_t value : values) all |= value;
  bool same = std::all_of(values.begin(), values.end(), [&](uint64_t v) { return v == values.front(); });
  auto bits = static_cast<unsigned>(std::bit_width(all));
  char form = 0;
  std::string body;
  if (same) {
    uint64_t value = values.empty() ? 0 : values.front();
    body.assign(reinterpret_cast<const char*>(&value), sizeof value);
    bits = 64;
  } else {
    std::string packed = pack_bytes(values, bytes_for(bits));
    // Bits are read twice as fast: zstd has to be worth it.
    bool pays = bits > kMostBits || packed.size() * 3 < values.size() * bits / 8 * 2;
    form = pays ? 2 : 1;
    body = pays ? std::move(packed) : pack_bits(values, bits);
  }
  out += form;
  out += static_cast<char>(bits);
  put32(out, body.size());
  out += body;
}

uint64_t field_of(const Event& event, int field) {
  switch (field) {
    case ColumnReader::kKind:
      return static_cast<uint64_t>(event.kind);
    case ColumnReader::kThread:
      return raw(event.thread);
    case ColumnReader::kObject:
      return event.object + 1;  // none is 0
    case ColumnReader::kWidth:
      return event.width_and_order;
    case ColumnReader::kBranches:
      return event.branches;
    case ColumnReader::kSite:
      return raw(event.site) + 1;
    case ColumnReader::kContext:
      return raw(event.context) + 1;
    case ColumnReader::kObject2:
      return event.object2 + 1;
    default:
      return event.value;
  }
}

uint32_t last_id(const Trace& t, ObjectMeaning meaning) {
  switch (meaning) {
    case ObjectMeaning::Variable:
      return static_cast<uint32_t>(t.variable_count());
    case ObjectMeaning::Sync:
      return static_cast<uint32_t>(t.syncs().size());
    case ObjectMeaning::Thread:
      return static_cast<uint32_t>(t.threads().size());
    case ObjectMeaning::UnitName:
      return static_cast<uint32_t>(t.unit_names().size());
    case ObjectMeaning::Object:
      return static_cast<uint32_t>(t.objects().size());
    case ObjectMeaning::Input:
      return static_cast<uint32_t>(t.input_names().size());
    case ObjectMeaning::None:
      break;
  }
  return UINT32_MAX;
}

}  // namespace

std::string write_columns(const Trace& trace, size_t begin, size_t end) {
  std::span<const Event> events = trace.events().subspan(begin, end - begin);
  std::vector<uint64_t> olds, values(events.size());
  std::string symbolic;
  uint32_t annotated = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == EventKind::Update) olds.push_back(trace.old_value(id_of<EventIndex>(begin + i)));
    const SymbolicInfo* data = trace.symbolic(id_of<EventIndex>(begin + i));
    if (data == nullptr) continue;
    ++annotated;
    put32(symbolic, i);
    for (const std::string* text : {&data->bound, &data->expression})
      put32(symbolic, text->size()), symbolic += *text;
  }
  std::string out;
  put32(out, events.size());
  put32(out, olds.size());
  for (int field = 0; field < ColumnReader::kOld; ++field) {
    for (size_t i = 0; i < events.size(); ++i) values[i] = field_of(events[i], field);
    write_column(out, values);
  }
  write_column(out, olds);
  put32(out, annotated);
  return out + symbolic;
}

bool ColumnReader::open(std::span<const uint8_t> block) {
  uint32_t count = 0, updates = 0;
  count_ = at_ = next_update_ = next_symbolic_ = 0;
  if (!take32(block, count) || !take32(block, updates) || count > kColumnEvents || updates > count)
    return false;
  for (int field = 0; field < kFields; ++field) {
    if (!open_column(columns_[field], block, field == kOld ? updates : count)) return false;
  }
  if (!open_symbolic(block)) return false;
  count_ = count;
  updates_ = updates;
  return true;
}

bool ColumnReader::open_column(Column& column, std::span<const uint8_t>& rest, size_t values) {
  uint32_t bytes = 0;
  if (rest.size() < 2) return false;
  uint8_t form = rest[0], bits = rest[1];
  rest = rest.subspan(2);
  if (!take32(rest, bytes) || bytes > rest.size() || form > Column::kPacked || bits > 64) return false;
  column.form = static_cast<Column::Form>(form);
  column.bits = bits;
  column.data = rest.data();
  rest = rest.subspan(bytes);
  if (form == Column::kSame) {
    if (bytes != sizeof column.same) return false;
    std::memcpy(&column.same, column.data, sizeof column.same);
    return true;
  }
  if (form == Column::kBits) return bits <= kMostBits && bytes == (values * bits + 7) / 8 + kSlack;
  size_t size = values * bytes_for(bits);
  if (ZSTD_getFrameContentSize(column.data, bytes) != size) return false;
  column.unpacked.resize(size);
  size_t got = ZSTD_decompress(column.unpacked.data(), size, column.data, bytes);
  return !ZSTD_isError(got) && got == size;
}

bool ColumnReader::open_symbolic(std::span<const uint8_t> rest) {
  symbolic_.clear();
  uint32_t count = 0;
  if (!take32(rest, count)) return false;
  auto text = [&](std::string& out) {
    uint32_t bytes = 0;
    if (!take32(rest, bytes) || bytes > rest.size() || bytes > kLongestText) return false;
    out.assign(reinterpret_cast<const char*>(rest.data()), bytes);
    rest = rest.subspan(bytes);
    return true;
  };
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t event = 0;
    SymbolicInfo data;
    if (!take32(rest, event) || !text(data.bound) || !text(data.expression)) return false;
    if (!symbolic_.empty() && event <= symbolic_.back().first) return false;
    symbolic_.emplace_back(event, std::move(data));
  }
  return rest.empty();
}

// Calls put(i, value) for count values; what a column looks like is decided once.
template <typename Put>
void ColumnReader::each(const Column& column, size_t from, size_t count, Put put) {
  if (column.form == Column::kSame) {
    for (size_t i = 0; i < count; ++i) put(i, column.same);
    return;
  }
  if (column.form == Column::kBits) {
    const uint8_t* data = column.data;
    const unsigned bits = column.bits;
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    size_t bit = from * bits;
    for (size_t i = 0; i < count; ++i, bit += bits) {
      uint64_t word;
      std::memcpy(&word, data + bit / 8, sizeof word);
      put(i, word >> (bit % 8) & mask);
    }
    return;
  }
  auto whole = [&]<typename Word>(Word) {
    const char* data = column.unpacked.data() + from * sizeof(Word);
    for (size_t i = 0; i < count; ++i) {
      Word word;
      std::memcpy(&word, data + i * sizeof word, sizeof word);
      put(i, uint64_t{word});
    }
  };
  switch (bytes_for(column.bits)) {
    case 1:
      return whole(uint8_t{});
    case 2:
      return whole(uint16_t{});
    case 4:
      return whole(uint32_t{});
    default:
      return whole(uint64_t{});
  }
}

bool ColumnReader::read(const IdLimits& limits, size_t count, Event* out,
                        std::vector<std::pair<uint32_t, uint64_t>>& updates) {
  auto same = [&](Field field) { return columns_[field].same; };
  // Fields that are the same for all are written once, with the first pass.
  Event all{.kind = static_cast<EventKind>(same(kKind)),
            .thread = ThreadId{static_cast<uint32_t>(same(kThread))}};
  all.object = static_cast<uint32_t>(same(kObject)) - 1;
  all.width_and_order = static_cast<uint8_t>(same(kWidth));
  all.branches = static_cast<uint16_t>(same(kBranches));
  all.site = SiteId{static_cast<uint32_t>(same(kSite)) - 1};
  all.context = ContextId{static_cast<uint32_t>(same(kContext)) - 1};
  all.object2 = static_cast<uint32_t>(same(kObject2)) - 1;
  all.value = same(kValue);
  for (size_t i = 0; i < count; ++i) out[i] = all;
  auto column = [&](Field field, auto put) {
    if (columns_[field].form != Column::kSame) each(columns_[field], at_, count, put);
  };
  column(kKind, [&](size_t i, uint64_t v) { out[i].kind = static_cast<EventKind>(v); });
  column(kThread, [&](size_t i, uint64_t v) { out[i].thread = ThreadId{static_cast<uint32_t>(v)}; });
  column(kObject, [&](size_t i, uint64_t v) { out[i].object = static_cast<uint32_t>(v) - 1; });
  column(kWidth, [&](size_t i, uint64_t v) { out[i].width_and_order = static_cast<uint8_t>(v); });
  column(kBranches, [&](size_t i, uint64_t v) { out[i].branches = static_cast<uint16_t>(v); });
  column(kSite, [&](size_t i, uint64_t v) { out[i].site = SiteId{static_cast<uint32_t>(v) - 1}; });
  column(kContext, [&](size_t i, uint64_t v) { out[i].context = ContextId{static_cast<uint32_t>(v) - 1}; });
  column(kObject2, [&](size_t i, uint64_t v) { out[i].object2 = static_cast<uint32_t>(v) - 1; });
  column(kValue, [&](size_t i, uint64_t v) { out[i].value = v; });
  if (!ids_hold(limits, {out, count})) return false;
  size_t first = updates.size();
  for (uint32_t i = 0; i < count; ++i) {
    if (out[i].kind == EventKind::Update) [[unlikely]]
      updates.emplace_back(i, 0);
  }
  size_t here = updates.size() - first;
  if (here > updates_ - next_update_) return false;
  each(columns_[kOld], next_update_, here, [&](size_t i, uint64_t v) { updates[first + i].second = v; });
  next_update_ += here;
  given_.clear();
  for (; next_symbolic_ < symbolic_.size() && symbolic_[next_symbolic_].first < at_ + count; ++next_symbolic_)
    given_.emplace_back(symbolic_[next_symbolic_].first - at_, symbolic_[next_symbolic_].second);
  at_ += count;
  bool over = at_ == count_;
  return !over || (next_update_ == updates_ && next_symbolic_ == symbolic_.size());
}

IdLimits::IdLimits(const Trace& tables)
    : threads(static_cast<uint32_t>(tables.threads().size())),
      sites(static_cast<uint32_t>(tables.sites().size())),
      contexts(static_cast<uint32_t>(tables.contexts().size())) {
  unknown.fill(1);
  for (auto kind = static_cast<unsigned>(EventKind::Read); kind <= kEventKinds; ++kind) {
    auto as = static_cast<EventKind>(kind);
    unknown[kind] = 0;
    object[kind] = last_id(tables, object_meaning(as));
    bool waits = as == EventKind::Wait || as == EventKind::Wake;
    object2[kind] = as == EventKind::Begin ? last_id(tables, ObjectMeaning::Object)
                    : waits                ? last_id(tables, ObjectMeaning::Sync)
                                           : UINT32_MAX;
  }
}

bool ColumnReader::ids_hold(const IdLimits& limits, std::span<const Event> events) const {
  auto over = [](uint32_t id, uint32_t most) { return static_cast<unsigned>(id > most); };
  if (limits.threads == 0) return events.empty();
  unsigned bad = 0;
  for (const Event& event : events) {
    auto kind = static_cast<uint8_t>(event.kind);
    bad |= limits.unknown[kind] | over(raw(event.thread), limits.threads - 1) |
           over(event.object + 1, limits.object[kind]);
  }
  // What is the same for all and is nothing needs no second look.
  bool plain = true;
  for (Field field : {kWidth, kSite, kContext, kObject2})
    plain = plain && columns_[field].form == Column::kSame && columns_[field].same == 0;
  for (size_t i = 0; i < events.size() && !plain; ++i) {
    const Event& event = events[i];
    bad |= over(raw(event.site) + 1, limits.sites) | over(raw(event.context) + 1, limits.contexts) |
           over(event.object2 + 1, limits.object2[static_cast<uint8_t>(event.kind)]) |
           over(static_cast<uint32_t>(event.order()), static_cast<uint32_t>(MemoryOrder::SeqCst));
  }
  return bad == 0;
}

}  // namespace cleave
