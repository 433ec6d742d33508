#pragma once
/// Ratios of an earlier run of `tessera_bench solvers`, to hold today's against.

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tessera::scaling {

class CommittedRatios {
 public:
  /// A ratio this much above the committed one is a failure.
  static constexpr double tolerance = 0.10;

  /// @param path a file of `tessera_bench solvers --json`
  /// @param now what today's begins with: case_json
  /// @throws InputError if it is none, or of another case
  CommittedRatios(const std::string& path, const nlohmann::json& now);

  /// Of a method in a model with batches of that size; nothing if it was not measured.
  std::optional<double> ratio(const std::string& method, const std::string& model,
                              int batch_size) const;

 private:
  nlohmann::json rows_;
};

}  // namespace tessera::scaling
