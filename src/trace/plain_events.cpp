#include "trace/plain_events.h"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "trace/event_columns.h"
#include "trace/outers.h"

namespace cleave {
namespace {

constexpr size_t kBatch = 1024;                   // events handed on at once: they stay in the nearest cache
constexpr uint64_t kLargest = uint64_t{1} << 32;  // bytes of an unpacked chunk: more is a damaged file

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
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
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
  bool good() const { return !failed_ && next_ == end_; }
  bool failed() const { return failed_; }

 private:
  uint64_t left() const { return static_cast<uint64_t>(end_ - next_); }
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

void ByteWriter::variables(VariableTable& table) {
  number(table.size());
  for (VariableInfo& info : table.all()) {
    text(info.name);
    visit_facts(*this, info);
  }
}

void ByteReader::variables(VariableTable& table) {
  constexpr uint8_t kNoFacts[9] = {};  // of a variable that has only a name
  uint64_t count = number();
  if (count > left()) return void(fail());
  for (uint64_t i = 0; i < count && !failed_; ++i) {
    uint64_t size = number();
    if (size > left()) return void(fail());
    std::string_view name(reinterpret_cast<const char*>(next_), size);
    next_ += size;
    if (left() >= sizeof kNoFacts && std::memcmp(next_, kNoFacts, sizeof kNoFacts) == 0) {
      next_ += sizeof kNoFacts;
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
        a.text(i.type);
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

void write_chunk(cleave_chunk_kind kind, std::string_view body,
                 const std::function<void(std::string_view)>& sink) {
  cleave_chunk_header header{.magic = CLEAVE_CHUNK_MAGIC, .kind = static_cast<uint16_t>(kind)};
  header.stored_bytes = static_cast<uint32_t>(body.size());
  header.checksum = XXH3_64bits(body.data(), body.size());
  sink({reinterpret_cast<const char*>(&header), sizeof header});
  sink(body);
}

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

// How events were stored before they stood field by field.
bool is_frame(std::span<const uint8_t> body) {
  unsigned long long size = ZSTD_getFrameContentSize(body.data(), body.size());
  return size != ZSTD_CONTENTSIZE_ERROR;
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

// Walks the chunks of a file with plain events, one EVENTS chunk at a time.
class PlainReader {
 public:
  explicit PlainReader(const TraceFile& file) : file_(file) {}

  Status open(TraceBuilder& builder) {
    for (const OtherChunk& chunk : file_.others()) {
      if (chunk.kind == CLEAVE_CHUNK_EVENTS && is_frame(file_.body(chunk)))
        return bad(chunk, "the trace was imported by an earlier Cleave; import it again");
    }
    for (const OtherChunk& chunk : file_.others()) {
      if (chunk.kind != CLEAVE_CHUNK_TABLES) continue;
      Tables tables;
      std::string plain;
      bool good = unpack(file_.body(chunk), plain);
      ByteReader in(plain);
      if (good) visit(in, tables);
      if (!good || !in.good() || !tables_hold(tables))
        return bad(chunk, "the names of the trace are damaged");
      put_tables(builder, tables);
      // Equal sites or contexts would have become one, and ids would not fit any more.
      const Trace& made = builder.tables();
      if (made.sites().size() != tables.sites.size() || made.contexts().size() != tables.contexts.size() ||
          made.input_names().size() != tables.input_names.size()) {
        return bad(chunk, "the names of the trace are damaged");
      }
      return Done{};
    }
    return Error{file_.path(), "has events without names; import it again"};
  }

  // The next events, at most kBatch, in `events`; none at the end. `updates`: which of them read what.
  Status next(const Trace& tables, std::vector<Event>& events, std::vector<std::pair<size_t, uint64_t>>& updates) {
    const std::vector<OtherChunk>& chunks = file_.others();
    events.clear();
    updates.clear();
    while (columns_.left() == 0) {
      while (at_ < chunks.size() && chunks[at_].kind != CLEAVE_CHUNK_EVENTS) ++at_;
      if (at_ >= chunks.size()) return Done{};
      if (!columns_.open(file_.body(chunks[at_++]))) return bad(chunks[at_ - 1], "damaged events");
    }
    events.resize(std::min(columns_.left(), kBatch));
    if (columns_.read(tables, events.size(), events.data(), updates)) return Done{};
    events.clear();
    return bad(chunks[at_ - 1], "damaged events");
  }
  std::span<const std::pair<size_t, SymbolicInfo>> symbolic() const { return columns_.symbolic(); }

 private:
  Error bad(const OtherChunk& chunk, const char* what) const {
    return Error{fmt::format("{}: byte {}", file_.path(), chunk.offset), what};
  }
  const TraceFile& file_;
  size_t at_ = 0;  // chunks begun
  ColumnReader columns_;
};

class PlainSource final : public BinarySource {
 public:
  explicit PlainSource(std::shared_ptr<TraceFile> file) : file_(std::move(file)), reader_(*file_) {}
  Status open() { return reader_.open(builder_); }

  Result<std::span<const Event>> next() override {
    if (Status status = reader_.next(builder_.tables(), events_, old_values_); !status) return status.error();
    return std::span<const Event>(events_);
  }
  uint64_t old_value(size_t position) const override {
    auto it =
        std::lower_bound(old_values_.begin(), old_values_.end(), std::pair<size_t, uint64_t>(position, 0));
    CLEAVE_CHECK(it != old_values_.end() && it->first == position,
                 "old_value of an event that is not an update");
    return it->second;
  }
  const Trace& tables() const override { return builder_.tables(); }
  bool complete() const override { return file_->ended() && !file_->damaged(); }
  ReadNotes notes() const override { return {}; }
  const TraceFile& file() const override { return *file_; }
  std::vector<std::string> remarks() const override { return file_->remarks(); }

 private:
  std::shared_ptr<TraceFile> file_;
  TraceBuilder builder_;
  PlainReader reader_;
  std::vector<Event> events_;
  std::vector<std::pair<size_t, uint64_t>> old_values_;
};

}  // namespace

void write_binary_trace(const Trace& trace, const std::function<void(std::string_view)>& sink) {
  cleave_file_header header{CLEAVE_TRACE_MAGIC, CLEAVE_TRACE_VERSION, sizeof header, 0, 0};
  sink({reinterpret_cast<const char*>(&header), sizeof header});
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
  ByteWriter names;
  visit(names, tables);
  write_chunk(CLEAVE_CHUNK_TABLES, pack(names.bytes()), sink);
  for (size_t begin = 0; begin < trace.size(); begin += kColumnEvents) {
    write_chunk(CLEAVE_CHUNK_EVENTS, write_columns(trace, begin, std::min(begin + kColumnEvents, trace.size())), sink);
  }
  write_chunk(CLEAVE_CHUNK_END, "{\"ended\": \"import\"}", sink);
}

std::string write_binary_trace(const Trace& trace) {
  std::string bytes;
  write_binary_trace(trace, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

bool has_plain_events(const TraceFile& file) {
  return std::any_of(file.others().begin(), file.others().end(),
                     [](const OtherChunk& chunk) { return chunk.kind == CLEAVE_CHUNK_TABLES; });
}

Result<Trace> load_plain_events(const TraceFile& file) {
  TraceBuilder builder;
  PlainReader reader(file);
  if (Status status = reader.open(builder); !status) return status.error();
  std::vector<Event> events;
  std::vector<std::pair<size_t, uint64_t>> updates;
  do {
    if (Status status = reader.next(builder.tables(), events, updates); !status) return status.error();
    auto update = updates.begin();
    size_t first = builder.size();
    for (const Event& event : events) {
      if (event.kind == EventKind::Update)
        builder.add_update(event, (update++)->second);
      else
        builder.add(event);
    }
    for (const auto& [position, data] : reader.symbolic()) {
      if (!events.empty()) builder.annotate(id_of<EventIndex>(first + position), data);
    }
  } while (!events.empty());
  for (const std::string& remark : file.remarks()) builder.remark(remark);
  return std::move(builder).build();
}

Result<std::unique_ptr<BinarySource>> open_plain_events(std::shared_ptr<TraceFile> file) {
  auto source = std::make_unique<PlainSource>(std::move(file));
  if (Status status = source->open(); !status) return status.error();
  return std::unique_ptr<BinarySource>(std::move(source));
}

}  // namespace cleave
