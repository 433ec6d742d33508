#pragma once
/// Which key of the deck, or which file, an error is about.

#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera {

/// Puts what `renamed` makes of it in place of the words of what `work` throws. As collective as
/// `work`.
template <class Work, class Renamed>
auto with_words(const Work& work, const Renamed& renamed) {
  try {
    return work();
  } catch (const InputError& error) {
    throw InputError(renamed(error.what()));
  } catch (const AgreedError& error) {
    throw AgreedError(error.exit_code(), renamed(error.what()));
  }
}

/// What is wrong with a file, with the key that named it in front.
template <class Work>
auto naming(const std::string& key, const Work& work) {
  return with_words(work, [&](const std::string& what) { return text(key, ": ", what); });
}

/// What is wrong with a file names the file.
template <class Work>
auto naming_file(const std::string& path, const Work& work) {
  return with_words(work, [&](const std::string& what) {
    return what.find(path) == what.npos ? text('"', path, "\": ", what) : what;
  });
}

}  // namespace tessera
