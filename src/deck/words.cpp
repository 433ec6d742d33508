#include "words.hpp"

#include <cstdlib>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::deck {
namespace {

bool is_of_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Calls visit(name, begin, end) for each name in braces.
template <class Visit>
void for_each_word(const std::string& value, const Visit& visit) {
  for (std::size_t begin = value.find('{'); begin != value.npos;
       begin = value.find('{', begin + 1)) {
    std::size_t end = begin + 1;
    while (end < value.size() && is_of_name(value[end])) ++end;
    const std::string name = value.substr(begin + 1, end - begin - 1);
    const bool is_word = !name.empty() && (name[0] < '0' || name[0] > '9');
    if (is_word && end < value.size() && value[end] == '}') visit(name, begin, end + 1);
  }
}

}  // namespace

Words words_of_environment(const std::string& text) {
  Words words;
  for_each_word(text, [&](const std::string& name, std::size_t, std::size_t) {
    if (const char* value = std::getenv(name.c_str())) words[name] = value;
  });
  return words;
}

bool has_words(const std::string& value) {
  bool found = false;
  for_each_word(value, [&](const std::string&, std::size_t, std::size_t) { found = true; });
  return found;
}

std::string with_words(const std::string& value, const Words& words) {
  std::string replaced;
  std::size_t done = 0;
  for_each_word(value, [&](const std::string& name, std::size_t begin, std::size_t end) {
    const auto word = words.find(name);
    if (word == words.end())
      throw InputError(text('{', name, "} in '", value, "' is not in the environment of rank 0; ",
                            "set it, or take a word that the job has: SLURM_ARRAY_TASK_ID, "
                            "PBS_ARRAY_INDEX, LSB_JOBINDEX in a job array"));
    replaced += value.substr(done, begin - done) + word->second;
    done = end;
  });
  return replaced + value.substr(done);
}

}  // namespace tessera::deck
