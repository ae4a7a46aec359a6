#include "trace/imported/imported_tables.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "trace/core/outers.h"

namespace cleave {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 32;  // bytes of an unpacked frame: more is a damaged file

std::string pack(const std::string& plain) {
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  size_t size = ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3);
  CLEAVE_CHECK(!ZSTD_isError(size), "zstd refused a buffer of its own bound");
  packed.resize(size);
  return packed;
}

bool unpack(std::span<const uint8_t> packed, std::string& plain) {
  unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  // What we write packs no better than this; a frame that promises more would only eat memory.
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLargest ||
      size > packed.size() * 20000ull + (1 << 20))
    return false;
  plain.resize(size);
  size_t got = ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size());
  return !ZSTD_isError(got) && got == size;
}

class ByteWriter {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void text(std::string& value) {
    number(value.size());
    bytes_ += value;
  }
  template <typename T>
  void field(T& value) {
    if constexpr (std::is_enum_v<T> && sizeof(T) == 4) {
      number(uint64_t{static_cast<uint32_t>(raw(value) + 1)});  // ids: kNone is 0
    } else {
      number(static_cast<uint64_t>(value));
    }
  }
  template <typename T, typename Visit>
  void list(std::vector<T>& values, Visit visit) {
    number(values.size());
    for (T& value : values) visit(value);
  }
  void variables(VariableTable& table);
  // Of variables that have nothing but a name; they stand apart, so that they need not be read.
  std::string& names_apart() { return names_apart_; }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_, names_apart_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes)
      : next_(reinterpret_cast<const uint8_t*>(bytes.data())), end_(next_ + bytes.size()) {}
  uint64_t number() {
    if (next_ != end_ && *next_ < 0x80) [[likely]]
      return *next_++;
    return long_number();
  }
  void text(std::string& value) {
    uint64_t size = number();
    if (size > left()) return void(fail());
    value.assign(reinterpret_cast<const char*>(next_), size);
    next_ += size;
  }
  template <typename T>
  void field(T& value) {
    uint64_t coded = number();
    if constexpr (std::is_enum_v<T> && sizeof(T) == 4) {
      value = static_cast<T>(static_cast<uint32_t>(coded) - 1);
    } else {
      value = static_cast<T>(coded);
    }
  }
  template <typename T, typename Visit>
  void list(std::vector<T>& values, Visit visit) {
    uint64_t count = number();
    if (count > left()) return void(fail());
    values.reserve(count);
    for (uint64_t i = 0; i < count && !failed_; ++i) visit(values.emplace_back());
  }
  void variables(VariableTable& table);
  // `names`: frame of the names of variables, if they stand apart. `later`: it is unpacked when somebody
  // asks.
  void names_apart(std::span<const uint8_t> names, bool later) {
    names_apart_ = names;
    later_ = later;
  }
  bool good() const { return !failed_ && next_ == end_; }
  bool failed() const { return failed_; }
  uint64_t left() const { return static_cast<uint64_t>(end_ - next_); }

 private:
  void read_apart(VariableTable& table, uint64_t count);
  uint64_t long_number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (next_ == end_) return fail();
      uint8_t byte = *next_++;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    return fail();
  }
  uint64_t fail() {
    failed_ = true;
    next_ = end_;
    return 0;
  }
  const uint8_t* next_;
  const uint8_t* end_;
  bool failed_ = false;
  std::span<const uint8_t> names_apart_;
  bool later_ = false;
};

// Everything of a Trace but its events; one visit for both directions.
struct Tables {
  std::vector<ThreadInfo> threads;
  VariableTable variables;
  std::vector<ObjectInfo> objects;
  std::vector<SyncInfo> syncs;
  std::vector<SiteInfo> sites;
  std::vector<UnitNameInfo> unit_names;
  std::vector<ContextInfo> contexts;
  std::vector<std::string> input_names;
  std::vector<std::pair<std::string, std::vector<VariableId>>> sets;
  std::string program;
  std::vector<std::string> remarks;
};

template <typename Archive>
void visit_facts(Archive& a, VariableInfo& i) {
  a.field(i.address), a.field(i.size), a.field(i.object), a.text(i.field);
  a.field(i.initial), a.field(i.initial_known), a.field(i.flags), a.text(i.home), a.text(i.set);
}

constexpr std::string_view kNoFacts("\0\0\0\0\0\0\0\0\0", 9);  // of a variable that has only a name

void ByteWriter::variables(VariableTable& table) {
  number(table.size());
  const bool apart = std::all_of(table.all().begin(), table.all().end(), [](VariableInfo& info) {
    ByteWriter facts;
    visit_facts(facts, info);
    return facts.bytes() == kNoFacts;
  });
  if (apart) {
    ByteWriter names;
    for (const VariableInfo& info : table.all()) names.number(info.name.size());
    for (const VariableInfo& info : table.all()) names.bytes() += info.name;
    names_apart_ = std::move(names.bytes());
    return;
  }
  for (VariableInfo& info : table.all()) {
    text(info.name);
    visit_facts(*this, info);
  }
}

// Names that stand apart: how long each of them is, then all of them.
bool read_names(std::span<const uint8_t> packed, size_t count, std::string& names,
                std::vector<uint64_t>& ends) {
  std::string plain;
  if (!unpack(packed, plain) || count > plain.size()) return false;
  ByteReader in(plain);
  ends.reserve(count);
  uint64_t end = 0;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t size = in.number();
    if (size > plain.size() - end) return false;
    ends.push_back(end += size);
  }
  if (in.failed() || in.left() != end) return false;
  names.assign(plain, plain.size() - end);
  return true;
}

// What we write packs no better than this; more is unpacked at once, so that nobody makes room for names that
// are not there.
constexpr uint64_t kPacksAtMost = 64;

void ByteReader::read_apart(VariableTable& table, uint64_t count) {
  const unsigned long long size = ZSTD_getFrameContentSize(names_apart_.data(), names_apart_.size());
  if (count >= UINT32_MAX || size == ZSTD_CONTENTSIZE_ERROR || count > size) return void(fail());
  if (later_ && size <= kPacksAtMost * (names_apart_.size() + 1024)) {
    std::vector<uint8_t> packed(names_apart_.begin(), names_apart_.end());
    table = VariableTable(
        count, [packed = std::move(packed)](size_t wanted, std::string& names, std::vector<uint64_t>& ends) {
          if (read_names(packed, wanted, names, ends)) return;
          names.clear(), ends.clear();
          for (size_t i = 0; i < wanted; ++i) ends.push_back((names += fmt::format("?{}", i)).size());
        });
    return;
  }
  std::string names;
  std::vector<uint64_t> ends;
  if (!read_names(names_apart_, count, names, ends)) return void(fail());
  uint64_t begin = 0;
  for (uint64_t end : ends) table.add_name(std::string_view(names).substr(begin, end - begin)), begin = end;
}

void ByteReader::variables(VariableTable& table) {
  uint64_t count = number();
  if (!names_apart_.empty()) return read_apart(table, count);
  if (count > left()) return void(fail());
  for (uint64_t i = 0; i < count && !failed_; ++i) {
    uint64_t size = number();
    if (size > left()) return void(fail());
    std::string_view name(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    if (left() >= kNoFacts.size() && std::memcmp(next_, kNoFacts.data(), kNoFacts.size()) == 0) {
      next_ += kNoFacts.size();
      table.add_name(name);
      continue;
    }
    VariableInfo info{.name = std::string(name)};
    visit_facts(*this, info);
    table.add(std::move(info));
  }
}

template <typename Archive>
void visit(Archive& a, Tables& t) {
  a.list(t.threads, [&](ThreadInfo& i) { a.text(i.name), a.field(i.parent), a.text(i.path); });
  a.variables(t.variables);
  a.list(t.objects, [&](ObjectInfo& i) {
    a.text(i.name), a.text(i.type), a.field(i.address), a.field(i.size), a.field(i.outer);
  });
  a.list(t.syncs,
         [&](SyncInfo& i) { a.text(i.name), a.field(i.kind), a.field(i.address), a.field(i.initial); });
  a.list(t.sites, [&](SiteInfo& i) {
    a.text(i.file), a.field(i.line), a.field(i.column), a.text(i.function), a.text(i.variable),
        a.text(i.type), a.field(i.through_own);
  });
  a.list(t.unit_names, [&](UnitNameInfo& i) {
    a.text(i.name), a.field(i.source), a.text(i.type), a.text(i.file), a.field(i.flags);
  });
  a.list(t.contexts, [&](ContextInfo& i) { a.field(i.parent), a.field(i.call_site); });
  a.list(t.input_names, [&](std::string& name) { a.text(name); });
  a.list(t.sets, [&](auto& set) {
    a.text(set.first);
    a.list(set.second, [&](VariableId& id) { a.field(id); });
  });
  a.text(t.program);
  a.list(t.remarks, [&](std::string& remark) { a.text(remark); });
}

bool fits(uint32_t id, size_t size) { return id == UINT32_MAX || id < size; }

bool tables_hold(const Tables& t) {
  for (const ThreadInfo& i : t.threads) {
    if (!fits(raw(i.parent), t.threads.size())) return false;
  }
  if (!t.variables.only_names()) {
    for (const VariableInfo& i : t.variables.all()) {
      if (!fits(raw(i.object), t.objects.size())) return false;
    }
  }
  for (const ObjectInfo& i : t.objects) {
    if (!outers_end(t.objects, i.outer)) return false;
  }
  for (const SyncInfo& i : t.syncs) {
    if (i.kind > SyncKind::Once) return false;
  }
  for (const UnitNameInfo& i : t.unit_names) {
    if (i.source > UnitSource::UnitFor) return false;
  }
  for (size_t i = 0; i < t.contexts.size(); ++i) {
    if (!fits(raw(t.contexts[i].parent), i) || !fits(raw(t.contexts[i].call_site), t.sites.size()))
      return false;
  }
  for (const auto& [name, members] : t.sets) {
    for (VariableId id : members) {
      if (raw(id) >= t.variables.size()) return false;
    }
  }
  return true;
}

void put_tables(TraceBuilder& builder, Tables& tables) {
  for (ThreadInfo& info : tables.threads) builder.add_thread(std::move(info));
  builder.set_variables(std::move(tables.variables));
  for (ObjectInfo& info : tables.objects) builder.add_object(std::move(info));
  for (SyncInfo& info : tables.syncs) builder.add_sync(std::move(info));
  for (SiteInfo& info : tables.sites) builder.add_site(std::move(info));
  for (UnitNameInfo& info : tables.unit_names) builder.add_unit_name(std::move(info));
  for (ContextInfo& info : tables.contexts) builder.add_context(info);
  for (const std::string& name : tables.input_names) builder.input_name(name);
  for (const auto& [name, members] : tables.sets) {
    for (VariableId id : members) builder.declare_set(name, id);
  }
  builder.set_program(std::move(tables.program));
  for (std::string& remark : tables.remarks) builder.remark(std::move(remark));
}

}  // namespace

std::string write_tables(const Trace& trace) {
  auto copy = [](auto span) { return std::vector(span.begin(), span.end()); };
  Tables tables{copy(trace.threads()),
                trace.variable_table(),
                copy(trace.objects()),
                copy(trace.syncs()),
                copy(trace.sites()),
                copy(trace.unit_names()),
                copy(trace.contexts()),
                copy(trace.input_names()),
                {trace.declared_sets().begin(), trace.declared_sets().end()},
                trace.program(),
                copy(trace.remarks())};
  ByteWriter out;
  visit(out, tables);
  std::string body = pack(out.bytes());
  if (!out.names_apart().empty()) body += pack(out.names_apart());
  return body;
}

bool read_tables(std::span<const uint8_t> body, TraceBuilder& builder, bool names_later) {
  const size_t first = ZSTD_findFrameCompressedSize(body.data(), body.size());
  std::string plain;
  if (ZSTD_isError(first) || !unpack(body.first(first), plain)) return false;
  Tables tables;
  ByteReader in(plain);
  in.names_apart(body.subspan(first), names_later);
  visit(in, tables);
  if (!in.good() || !tables_hold(tables)) return false;
  put_tables(builder, tables);
  // Equal sites or contexts would have become one, and ids would not fit any more.
  const Trace& made = builder.tables();
  return made.sites().size() == tables.sites.size() && made.contexts().size() == tables.contexts.size() &&
         made.input_names().size() == tables.input_names.size();
}

}  // namespace cleave
