#pragma once
/// A deck that is being written, with comments.

#include <optional>
#include <string>
#include <vector>

namespace tessera::analysis {

class DeckDraft {
 public:
  /// @param key "data.file"; a key that is there already stays as it is
  /// @param value as TOML
  void set(const std::string& key, const std::string& value, const std::string& comment = "");
  /// Replaces what is there.
  void change(const std::string& key, const std::string& value, const std::string& comment);
  void remove(const std::string& key);
  /// A line to fill in, unless the key is there.
  void ask(const std::string& key, const std::string& what);

  bool has(const std::string& key) const;
  /// The value that was set, if it is a number.
  std::optional<double> number(const std::string& key) const;
  /// The first number of two, "[a, b]".
  std::optional<double> first_of_pair(const std::string& key) const;
  /// Keys to fill in.
  std::vector<std::string> asked() const;
  /// The deck, section by section in the order of the reference.
  std::string toml(const std::string& heading) const;

 private:
  struct Line {
    std::string key;
    std::string value;  ///< empty: to fill in
    std::string comment;
  };
  std::vector<Line> lines_;
};

}  // namespace tessera::analysis
