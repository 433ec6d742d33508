#pragma once
/// Words of the environment in a deck's values, for job arrays: "scan_{SLURM_ARRAY_TASK_ID}.h5".

#include <map>
#include <string>

namespace tessera::deck {

/// What a name in braces stands for. A name is of capitals, digits and _, with no digit in front.
using Words = std::map<std::string, std::string>;

/// Those named in `text` that the environment of this process has.
Words words_of_environment(const std::string& text);

bool has_words(const std::string& value);

/// `value` with every name in braces replaced.
/// @throws InputError naming the word that `words` has not
std::string with_words(const std::string& value, const Words& words);

}  // namespace tessera::deck
