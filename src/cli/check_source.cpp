#include "cli/check_source.h"

#include "base/interrupt.h"
#include "trace/text/rapid.h"

namespace cleave::cli {

template <typename Source>
Source* CheckSource::read_ahead(std::unique_ptr<Source> source) {
  Source* under = source.get();
  source_ = std::move(source);
  ahead_ = std::make_unique<ReadAhead>(*under);
  return under;
}

Result<std::unique_ptr<CheckSource>> CheckSource::open(const std::string& path, bool stretches,
                                                       Progress* progress) {
  auto made = std::make_unique<CheckSource>();
  made->progress_ = progress;
  const TraceForm form = form_of_file(path);
  if (form == TraceForm::Rapid) {
    Result<std::unique_ptr<BatchSource>> source = open_rapid_trace(path);
    if (!source) return source.error();
    made->read_ahead(std::move(source).value());
    return made;
  }
  if (form != TraceForm::Binary) {
    Result<std::unique_ptr<EventSource>> source = open_trace(path);
    if (!source) return source.error();
    made->source_ = std::move(source).value();
    return made;
  }
  ReadOptions reading;
  reading.reuse_ids = true;
  reading.stretches = stretches;
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path, reading);
  if (!source) return source.error();
  made->bytes_ = source.value()->file().bytes();
  made->binary_ = made->read_ahead(std::move(source).value());
  return made;
}

Result<std::span<const Event>> CheckSource::next() {
  if (interrupted()) return std::span<const Event>();  // what was found until then is reported
  Result<std::span<const Event>> batch = events().next();
  if (progress_ == nullptr || !batch) return batch;
  progress_->more(batch.value().size());
  if (binary_ != nullptr) progress_->bytes(binary_->position(), bytes_);
  return batch;
}

bool CheckSource::complete() const {
  if (ahead_) ahead_->stop();
  return events().complete() && !interrupted();
}

std::vector<std::string> CheckSource::remarks() const {
  if (binary_ != nullptr) return binary_->remarks();
  std::span<const std::string> remarks = tables().remarks();
  return {remarks.begin(), remarks.end()};
}

}  // namespace cleave::cli
