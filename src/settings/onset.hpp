#pragma once
/// When a constraint acts.

#include <string>

#include "settings/key.hpp"

namespace tessera::settings {

/// After epoch `from_epoch` (from 0; negative: never) and then every so many epochs.
struct Onset {
  int from_epoch = -1;
  int every = 1;
  bool ever() const { return from_epoch >= 0; }
  bool acts(int epoch) const {
    return ever() && epoch >= from_epoch && (epoch - from_epoch) % every == 0;
  }
  Key from_epoch_key(const std::string& constraint, const std::string& what) {
    return first_epoch(constraint + "_from_epoch", &from_epoch, "after which " + what);
  }
  Key every_key(const std::string& constraint) {
    return {.name = constraint + "_every",
            .field = &every,
            .meaning = "Epochs from one time to the next.",
            .min = 1,
            .max = 1000000};
  }
};

}  // namespace tessera::settings
