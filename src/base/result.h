// Errors of input are values with a place: `trace.cleave: byte 8123: truncated block`.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace cleave {

// One clear sentence for a person. `place` is a file, a file and a position, or empty.
struct Error {
  std::string place;
  std::string message;

  std::string sentence() const { return place.empty() ? message : place + ": " + message; }
};

// A value or an Error. value() and error() check that they are what is there.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CLEAVE_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CLEAVE_CHECK(ok(), error_text());
    return std::get<0>(state_);
  }
  T&& value() && {
    CLEAVE_CHECK(ok(), error_text());
    return std::get<0>(std::move(state_));
  }
  const Error& error() const {
    CLEAVE_CHECK(!ok(), "a result that holds a value was asked for its error");
    return std::get<1>(state_);
  }

 private:
  std::string error_text() const { return ok() ? std::string() : std::get<1>(state_).sentence(); }
  std::variant<T, Error> state_;
};

struct Done {};
using Status = Result<Done>;

}  // namespace cleave
