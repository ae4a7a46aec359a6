#include "runtime/record/stream.h"

#include <cpuid.h>
#include <string.h>

#include "abi/codec.h"
#include "runtime/interpose/process.h"
#include "runtime/record/file.h"
#include "runtime/record/flow.h"
#include "runtime/record/message.h"
#include "runtime/record/modules.h"
#include "runtime/record/state.h"

namespace cleave::runtime {
namespace {

// Payload words of the runtime's own records by number.
struct RecordWords {
  uint16_t words[64] = {};
  constexpr RecordWords() {
#define CLEAVE_RECORD(name, number, count, text) words[number] = count;
#include "abi/runtime_records.def"
#undef CLEAVE_RECORD
  }
};
constexpr RecordWords kRecordWords;
constexpr uint16_t kVariable = 0xffff;

// What encoding needs, borrowed for the time of one flush: few are in use at once, so few stay warm in the
// cache. A stream that gets the one it had last, and nobody had it in between, goes on with its tables.
struct alignas(64) Encoder {
  std::atomic<bool> taken{false};
  uint32_t stream = kNobody;  // whose chunk it coded last, and the number that the next one will have
  uint64_t sequence = 0;
  cleave_codec codec;
  cleave_chunk_header header;
  uint8_t body[60 * 1024];
};
constexpr uint32_t kEncoders = 24;
Encoder encoders[kEncoders];

Encoder& borrow_encoder(uint32_t& last_used) {
  for (uint32_t turn = 0;; ++turn) {
    uint32_t index = (last_used + turn) % kEncoders;
    if (!encoders[index].taken.exchange(true, std::memory_order_acquire)) {
      last_used = index;
      return encoders[index];
    }
    if (turn % kEncoders == kEncoders - 1) yield_processor();
  }
}

void give_back(Encoder& encoder) { encoder.taken.store(false, std::memory_order_release); }

bool continues(const Stream& stream, const Encoder& encoder) {
  return encoder.stream == stream.number && encoder.sequence == stream.sequence &&
         stream.sequence % CLEAVE_CHUNK_LONGEST_RUN != 0;
}

void write_chunk(Stream& stream, Encoder& encoder, bool goes_on, uint64_t words, uint64_t records) {
  encoder.header = {};
  encoder.header.kind = CLEAVE_CHUNK_RECORDS;
  encoder.header.flags = goes_on ? CLEAVE_CHUNK_CONTINUES : 0;
  encoder.header.thread = stream.number;
  encoder.header.sequence = stream.sequence++;
  encoder.header.words = static_cast<uint32_t>(words);
  encoder.header.records = static_cast<uint32_t>(records);
  encoder.stream = stream.number;
  encoder.sequence = stream.sequence;
  count_records(records);
  append_chunk_in_place(&encoder.header, static_cast<uint32_t>(cleave_codec_end_body(&encoder.codec)));
}

// As many records as fit into the encoder's body; moves `from` behind them.
struct Encoded {
  uint64_t words = 0, records = 0;
};
__attribute__((always_inline)) inline Encoded encode_some(Encoder& encoder, const uint64_t*& from,
                                                          const uint64_t* to) {
  Encoded done;
  while (from < to) {
    size_t count = record_words(from);
    if (__builtin_expect(count == 0, 0)) {  // a gap: a record that a fork in a signal handler took away
      ++from;
      continue;
    }
    if (!cleave_codec_fits(&encoder.codec, count)) break;
    cleave_codec_put_record(&encoder.codec, from, static_cast<uint32_t>(count - 1));
    from += count;
    done.words += count;
    ++done.records;
  }
  return done;
}

// Counting leading zeros is what encoding does most, and every processor since 2013 has an instruction for
// it.
__attribute__((target("lzcnt,bmi,bmi2"))) Encoded encode_some_now(Encoder& encoder, const uint64_t*& from,
                                                                  const uint64_t* to) {
  return encode_some(encoder, from, to);
}
Encoded encode_some_anywhere(Encoder& encoder, const uint64_t*& from, const uint64_t* to) {
  return encode_some(encoder, from, to);
}

bool has_bit_instructions() {
  unsigned a, b, c, d;
  bool leading_zeros = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
  return leading_zeros && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_BMI) && (b & bit_BMI2);
}

void encode_range(Stream& stream, Encoder& encoder, const uint64_t* from, const uint64_t* to) {
  static std::atomic<int> bit_instructions{-1};
  int known = bit_instructions.load(std::memory_order_relaxed);
  if (known < 0) bit_instructions.store(known = has_bit_instructions(), std::memory_order_relaxed);
  while (from < to) {
    bool goes_on = continues(stream, encoder);
    if (!goes_on) cleave_codec_clear(&encoder.codec);
    cleave_codec_begin_body(&encoder.codec, encoder.body, sizeof encoder.body);
    encoder.stream =
        kNobody;  // until its chunk is written: a crash in between must not leave half of it to another
    Encoded done = known ? encode_some_now(encoder, from, to) : encode_some_anywhere(encoder, from, to);
    if (done.records == 0 && from < to) fail("a record is too long to be encoded");
    if (done.records != 0) write_chunk(stream, encoder, goes_on, done.words, done.records);
  }
}

void write_range(Stream& stream, Encoder* encoder, const uint64_t* from, const uint64_t* to) {
  if (encoder != nullptr) return encode_range(stream, *encoder, from, to);
  if (from >= to) return;
  cleave_chunk_header header{};
  header.kind = CLEAVE_CHUNK_RECORDS;
  header.thread = stream.number;
  header.sequence = stream.sequence++;
  append_raw_chunk(header, from, static_cast<uint64_t>(to - from));
}

// The last record before `cursor`, or `cursor` when there is none. Records before it are complete.
const uint64_t* last_record(const uint64_t* from, const uint64_t* cursor) {
  const uint64_t* last = cursor;
  while (from < cursor) {
    last = from;
    size_t count = record_words(from);
    if (count == 0 || from + count > cursor) break;
    from += count;
  }
  return last;
}

bool is_own_record(const uint64_t* record) {
  uint64_t address = __atomic_load_n(record, __ATOMIC_ACQUIRE) & CLEAVE_HEADER_ADDRESS_MASK;
  return address != 0 && address < 4096;
}

bool claim(Stream& stream, Claim as) {
  for (unsigned turn = 0;; ++turn) {
    Claim expected = Claim::Free;
    if (stream.claimed.compare_exchange_strong(expected, as, std::memory_order_acq_rel)) return true;
    if (expected == Claim::Closed) return false;
    // A fault in the middle of the owner's own flush: what is left of it is lost, the rest is not.
    if (expected == Claim::Owner && as == Claim::Owner) return false;
    if (turn < 64)
      __builtin_ia32_pause();
    else
      yield_processor();
    if (turn > 200000) return false;  // the same, seen by another thread
  }
}

}  // namespace

void reset_encoders() {
  for (Encoder& encoder : encoders) encoder.taken.store(false, std::memory_order_relaxed);
}

void make_unwritten(uint64_t* from, const uint64_t* to) {
  while (from < to) *from++ = CLEAVE_UNWRITTEN;
}

// Read from the back: the owner stores from the front, so what is seen stored has everything before it stored
// too.
size_t stored_words(const uint64_t* record, size_t payload) {
  while (payload > 0 && __atomic_load_n(record + payload, __ATOMIC_ACQUIRE) == CLEAVE_UNWRITTEN) --payload;
  return payload;
}

size_t record_words(const uint64_t* record) {
  uint64_t address = record[0] & CLEAVE_HEADER_ADDRESS_MASK;
  if (__builtin_expect(address < 4096, 0)) {
    if (address == 0) return 0;
    uint16_t words = address < 64 ? kRecordWords.words[address] : 0;
    return words == kVariable ? 2 + record[1] : 1 + static_cast<size_t>(words);
  }
  return 1 + static_cast<size_t>(segment_at(address)->words);
}

void write_stream(Stream& stream, uint64_t* cursor, Extent extent) {
  if (cursor <= stream.flushed || cursor > stream.end + kSlackWords) return;
  static uint32_t shared_hint;
  uint32_t& hint = current_thread ? current_thread->encoder : shared_hint;
  Encoder* encoder = trace_is_raw() ? nullptr : &borrow_encoder(hint);
  const uint64_t* to = cursor;
  if (extent != Extent::Whole) to = last_record(stream.flushed, cursor);
  // A record of the runtime is there as a whole or not at all.
  if (extent == Extent::Settled && to < cursor && is_own_record(to)) {
    const uint64_t* behind = to + record_words(to);
    if (behind <= cursor) to = behind;
  }
  write_range(stream, encoder, stream.flushed, to);
  if (extent == Extent::Broken && to < cursor) {
    // In a copy: its owner may still be at it.
    uint64_t copy[CLEAVE_SEGMENT_MAX_WORDS + 4];
    size_t count = record_words(to);
    if (count != 0 && count <= CLEAVE_SEGMENT_MAX_WORDS + 1) {
      size_t valid = stored_words(to, count - 1);
      memcpy(copy, to, count * sizeof *copy);
      size_t total = count;
      if (valid + 1 < count) {
        memset(copy + valid + 1, 0, (count - valid - 1) * sizeof *copy);
        copy[total++] = kRecord_cut | CLEAVE_BRANCHES_NONE << CLEAVE_HEADER_ADDRESS_BITS;
        copy[total++] = valid;
      }
      write_range(stream, encoder, copy, copy + total);
    }
  }
  if (encoder != nullptr) give_back(*encoder);
  stream.flushed = const_cast<uint64_t*>(to);
  stream.flush_stamp = stamp_now();
}

namespace {

// Within its scope signals to this thread wait (signals.cpp: defer).
class Flushing {
 public:
  Flushing() : thread_(current_thread) {
    if (thread_ != nullptr) thread_->flushing = true;
  }
  ~Flushing() {
    if (thread_ == nullptr) return;
    thread_->flushing = false;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (!thread_->signals_wait) return;
    thread_->signals_wait = false;
    uint64_t mask = thread_->signal_mask;
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), 0, sizeof mask);
  }
  Flushing(const Flushing&) = delete;
  Flushing& operator=(const Flushing&) = delete;

 private:
  Thread* thread_;
};

}  // namespace

void flush_own(Stream& stream) {
  // With nothing held, and before signals are put off.
  if (state.mode.load(std::memory_order_relaxed) == Mode::Recording && !wait_for_reader())
    state.mode.store(Mode::Off);
  Flushing flushing;
  if (!claim(stream, Claim::Owner)) return;
  uint64_t* cursor = __cleave_thread.cursor;
  if (state.mode.load(std::memory_order_relaxed) == Mode::Recording)
    write_stream(stream, cursor, Extent::Whole);
  make_unwritten(stream.base, cursor);
  stream.flushed = stream.base;
  __cleave_thread.cursor = stream.base;
  stream.claimed.store(Claim::Free, std::memory_order_release);
}

void flush_other(Stream& stream, Extent extent, bool for_good) {
  if (!claim(stream, Claim::Other)) return;
  const cleave_thread_block* block = stream.block.load(std::memory_order_acquire);
  if (block != nullptr) {
    uint64_t* cursor = __atomic_load_n(&block->cursor, __ATOMIC_ACQUIRE);
    if (cursor >= stream.base && cursor <= stream.end + kSlackWords) write_stream(stream, cursor, extent);
  }
  stream.claimed.store(for_good ? Claim::Closed : Claim::Free, std::memory_order_release);
}

uint64_t* repair(Stream& stream, uint64_t* cursor) {
  if (cursor < stream.flushed || cursor > stream.end) return cursor;
  uint64_t* last = const_cast<uint64_t*>(last_record(stream.flushed, cursor));
  if (last == cursor) return cursor;
  size_t count = record_words(last);
  if (count == 0) return last;  // reserved, but nothing stood there yet
  size_t valid = stored_words(last, count - 1);
  if (valid + 1 == count || (*last & CLEAVE_HEADER_ADDRESS_MASK) < 4096) return cursor;
  for (size_t i = valid + 1; i < count; ++i) last[i] = 0;
  cursor[0] = kRecord_cut | CLEAVE_BRANCHES_NONE << CLEAVE_HEADER_ADDRESS_BITS;
  cursor[1] = valid;
  return cursor + 2;
}

}  // namespace cleave::runtime
