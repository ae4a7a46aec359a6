// A trace read in a thread of its own, so that whoever judges the events does not wait for them to be put in
// order or to be taken out of text. What comes out is the same, event for event: where tables grow with the
// events, a batch brings along what they had gained when it was made, and next() shows the tables as they
// were then.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "trace/core/stream.h"
#include "trace/core/table_growth.h"
#include "trace/recorded/event_builder.h"

namespace cleave {

class ReadAhead final : public EventSource {
 public:
  // `source` must outlive this and is the other thread's until the end or stop(). `meanwhile` is called in
  // that thread after every batch, and again and again while it waits for us.
  explicit ReadAhead(BatchSource& source, std::function<void()> meanwhile = {});
  ~ReadAhead() override { stop(); }
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  Result<std::span<const Event>> next() override;
  std::span<const VariableSplit> splits() const override { return current_.batch.splits; }
  const FreedIds& freed() const override { return current_.batch.freed; }
  uint64_t old_value(size_t position) const override { return current_.batch.old_value(position); }
  const Trace& tables() const override { return touched_ != nullptr ? mirror_.tables() : source_.tables(); }
  // To be asked after the end or stop().
  bool complete() const override { return source_.complete(); }

  // No more is wanted. Returns when the other thread is through with the source, which a live one is when its
  // writer has ended.
  void stop();

 private:
  struct Portion {
    Batch batch;
    TableGrowth growth;
    std::optional<Error> error;  // events are none then
  };
  // In events; a portion counts for so many more, since it may be small where locations are split again and
  // again.
  static constexpr size_t kEach = 512;
  static constexpr size_t kMost = 64 * 1024;     // that wait
  static constexpr size_t kSeveral = 16 * 1024;  // for which it is worth to wake the one who wants them
  static size_t weight(const Portion& portion) { return kEach + portion.batch.events.size(); }

  void read();
  bool hand_over(Portion portion);
  void wait_for_portion(std::unique_lock<std::mutex>& guard);

  BatchSource& source_;
  TouchedEntries* const touched_;  // null: the tables are the source's own
  std::function<void()> meanwhile_;
  TableMirror mirror_;
  Portion current_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Portion> waiting_;
  size_t weight_ = 0;         // of those
  std::vector<Batch> spare_;  // to be filled again
  bool stopped_ = false;
  bool eager_ = false;  // to be woken for a single portion
  std::thread thread_;
};

}  // namespace cleave
