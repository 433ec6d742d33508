#include "tessera/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "tessera/base/text.hpp"

namespace tessera {
namespace {

/// Warnings go to standard error, so that a result piped on standard output stays clean.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_color_mt("tessera");
    made->set_pattern("%n: %^%l%$: %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void Log::info(const std::string& message) const {
  if (speaks_) logger().info(printable(message));
}

void Log::warning(const std::string& message) const {
  if (speaks_) logger().warn(printable(message));
}

}  // namespace tessera
