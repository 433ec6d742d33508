#pragma once
/// Messages to a person. Only the rank that made the log with `speaks = true` prints.

#include <string>

namespace tessera {

class Log {
 public:
  /// @param speaks true on the one rank that a person reads.
  explicit Log(bool speaks) : speaks_(speaks) {}
  void info(const std::string& message) const;
  void warning(const std::string& message) const;
  bool speaks() const { return speaks_; }

 private:
  bool speaks_;
};

}  // namespace tessera
