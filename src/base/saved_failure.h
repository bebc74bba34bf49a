// SavedFailure keeps a status and its detail text while a clean-up runs, which may fail as well.
#pragma once

#include <string>

#include "base/long_detail.h"
#include "base/status.h"

namespace cairn {

class SavedFailure {
 public:
  SavedFailure() = default;
  // If `status` is a failure, the thread's detail text must be its own.
  explicit SavedFailure(Status status) : status_(status), text_(status.ok() ? "" : last_detail()) {}

  // Keeps the first of several failures. The thread's detail text must be that of `status`.
  void keep(Status status) {
    if (status_.ok()) *this = SavedFailure(status);
  }

  [[nodiscard]] bool ok() const { return status_.ok(); }
  [[nodiscard]] int code() const { return status_.code(); }
  [[nodiscard]] const std::string& text() const { return text_; }
  // The status, with its text as the thread's detail again.
  [[nodiscard]] Status restored() const {
    return status_.ok() ? status_ : fail_at_length(status_.code(), text_);
  }
  // The status if it is a failure, else that of the clean-up.
  [[nodiscard]] Status or_of(Status cleaned_up) const {
    return status_.ok() ? cleaned_up : restored();
  }

 private:
  Status status_;
  std::string text_;
};

}  // namespace cairn
