#pragma once
/// Which key of the deck an error is about.

#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::run {

/// What is wrong with a file, with the key that named it in front. As collective as `work`.
template <class Work>
auto naming(const std::string& key, const Work& work) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(text(key, ": ", error.what()));
  } catch (const AgreedError& error) {
    throw AgreedError(error.exit_code(), text(key, ": ", error.what()));
  }
}

}  // namespace tessera::run
