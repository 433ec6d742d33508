#include "marked_text.hpp"

#include <fstream>

namespace tessera::io {

std::string read_words(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string words(1 << 18, '\0');
  file.read(words.data(), std::ssize(words));
  words.resize(static_cast<std::size_t>(file.gcount()));
  return words;
}

std::string between(const std::string& words, const std::string& before, const std::string& end) {
  const std::size_t at = words.find(before);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + before.size();
  return words.substr(begin, words.find(end, begin) - begin);
}

std::string element(const std::string& words, const std::string& name) {
  return between(words, '<' + name + '>', "</" + name + '>');
}

}  // namespace tessera::io
