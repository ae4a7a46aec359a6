#include "trace/imported/imported_events.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <optional>

#include "abi/chunk_checksum.h"
#include "trace/core/event_columns.h"
#include "trace/imported/imported_tables.h"

namespace cleave {
namespace {

constexpr size_t kBatch = 1024;  // events handed on at once: they stay in the nearest cache

void write_chunk(cleave_chunk_kind kind, std::string_view body,
                 const std::function<void(std::string_view)>& sink) {
  cleave_chunk_header header{.magic = CLEAVE_CHUNK_MAGIC, .kind = static_cast<uint16_t>(kind)};
  header.stored_bytes = static_cast<uint32_t>(body.size());
  header.checksum = cleave_chunk_checksum(&header, body.data());
  sink({reinterpret_cast<const char*>(&header), sizeof header});
  sink(body);
}

// How events were stored before they stood field by field.
bool is_frame(std::span<const uint8_t> body) {
  unsigned long long size = ZSTD_getFrameContentSize(body.data(), body.size());
  return size != ZSTD_CONTENTSIZE_ERROR;
}

// Walks the chunks of a file with plain events, one EVENTS chunk at a time.
class PlainReader {
 public:
  explicit PlainReader(const TraceFile& file) : file_(file) {}

  // `names_later`: those of variables, when somebody asks for them.
  Status open(TraceBuilder& builder, bool names_later) {
    for (const OtherChunk& chunk : file_.others()) {
      if (chunk.kind == CLEAVE_CHUNK_EVENTS && is_frame(file_.body(chunk)))
        return bad(chunk, "the trace was imported by an earlier Cleave; import it again");
    }
    for (const OtherChunk& chunk : file_.others()) {
      if (chunk.kind != CLEAVE_CHUNK_TABLES) continue;
      if (!read_tables(file_.body(chunk), builder, names_later))
        return bad(chunk, "the names of the trace are damaged");
      limits_.emplace(builder.tables());
      return Done{};
    }
    return Error{file_.path(), "has events without names; import it again"};
  }

  // The next events, at most kBatch, with what the updates among them read; none at the end. Does not look at
  // the tables.
  Status next(Batch& batch) {
    const std::vector<OtherChunk>& chunks = file_.others();
    batch.clear();
    while (columns_.left() == 0) {
      while (at_ < chunks.size() && chunks[at_].kind != CLEAVE_CHUNK_EVENTS) ++at_;
      if (at_ >= chunks.size()) return Done{};
      if (!columns_.open(file_.body(chunks[at_++]))) return bad(chunks[at_ - 1], "damaged events");
    }
    const size_t count = std::min(columns_.left(), kBatch);
    if (columns_.read(*limits_, count, batch.events.places(count), batch.old_values)) return Done{};
    batch.clear();
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
  std::optional<IdLimits> limits_;
};

class PlainSource final : public BinarySource {
 public:
  explicit PlainSource(std::shared_ptr<TraceFile> file) : file_(std::move(file)), reader_(*file_) {}
  Status open() { return reader_.open(builder_, true); }

  Result<std::span<const Event>> next() override {
    if (Status status = reader_.next(batch_); !status) return status.error();
    return std::span<const Event>(batch_.events);
  }
  void take(Batch& into) override { std::swap(batch_, into); }
  uint64_t old_value(size_t position) const override { return batch_.old_value(position); }
  const Trace& tables() const override { return builder_.tables(); }
  bool complete() const override { return file_->ended() && !file_->damaged(); }
  ReadNotes notes() const override { return {}; }
  const TraceFile& file() const override { return *file_; }
  std::vector<std::string> remarks() const override { return file_->remarks(); }

 private:
  std::shared_ptr<TraceFile> file_;
  TraceBuilder builder_;
  PlainReader reader_;
  Batch batch_;
};

}  // namespace

void write_binary_trace(const Trace& trace, const std::function<void(std::string_view)>& sink) {
  cleave_file_header header{CLEAVE_TRACE_MAGIC, CLEAVE_TRACE_VERSION, sizeof header, 0, 0};
  sink({reinterpret_cast<const char*>(&header), sizeof header});
  write_chunk(CLEAVE_CHUNK_TABLES, write_tables(trace), sink);
  for (size_t begin = 0; begin < trace.size(); begin += kColumnEvents) {
    write_chunk(CLEAVE_CHUNK_EVENTS,
                write_columns(trace, begin, std::min(begin + kColumnEvents, trace.size())), sink);
  }
  if (!trace.ends_early()) write_chunk(CLEAVE_CHUNK_END, "{\"ended\": \"import\"}", sink);
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
  if (Status status = reader.open(builder, false); !status) return status.error();
  Batch batch;
  do {
    if (Status status = reader.next(batch); !status) return status.error();
    auto update = batch.old_values.begin();
    size_t first = builder.size();
    for (const Event& event : batch.events) {
      if (event.kind == EventKind::Update)
        builder.add_update(event, (update++)->second);
      else
        builder.add(event);
    }
    for (const auto& [position, data] : reader.symbolic()) {
      if (!batch.events.empty()) builder.annotate(id_of<EventIndex>(first + position), data);
    }
  } while (!batch.events.empty());
  for (const std::string& remark : file.remarks()) builder.remark(remark);
  builder.set_ends_early(!file.ended() || file.damaged());
  return std::move(builder).build();
}

Result<std::unique_ptr<BinarySource>> open_plain_events(std::shared_ptr<TraceFile> file) {
  auto source = std::make_unique<PlainSource>(std::move(file));
  if (Status status = source->open(); !status) return status.error();
  return std::unique_ptr<BinarySource>(std::move(source));
}

}  // namespace cleave
