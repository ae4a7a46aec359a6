#include "cli/check_source.h"

namespace cleave::cli {

Result<std::unique_ptr<CheckSource>> CheckSource::open(const std::string& path, Progress* progress) {
  auto made = std::make_unique<CheckSource>();
  made->progress_ = progress;
  if (form_of_file(path) != TraceForm::Binary) {
    Result<std::unique_ptr<EventSource>> source = open_trace(path);
    if (!source) return source.error();
    made->source_ = std::move(source).value();
    return made;
  }
  ReadOptions reading;
  reading.reuse_ids = true;
  Result<std::unique_ptr<BinarySource>> source = open_binary_trace(path, reading);
  if (!source) return source.error();
  made->binary_ = source.value().get();
  made->source_ = std::move(source).value();
  if (made->binary_->touched() != nullptr) made->ahead_ = std::make_unique<ReadAhead>(*made->binary_);
  return made;
}

Result<std::span<const Event>> CheckSource::next() {
  Result<std::span<const Event>> batch = events().next();
  if (progress_ != nullptr && batch) progress_->more(batch.value().size());
  return batch;
}

std::vector<std::string> CheckSource::remarks() const {
  if (binary_ != nullptr) return binary_->remarks();
  std::span<const std::string> remarks = tables().remarks();
  return {remarks.begin(), remarks.end()};
}

}  // namespace cleave::cli
