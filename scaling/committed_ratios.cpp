#include "committed_ratios.hpp"

#include <fstream>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::scaling {

using Json = nlohmann::json;

CommittedRatios::CommittedRatios(const std::string& path, const Json& now) {
  std::ifstream file(path);
  const Json committed = Json::parse(file, nullptr, false);
  if (committed.is_discarded() || !committed.is_object() ||
      committed.value("command", "") != "solvers" || !committed.contains("solvers"))
    throw InputError(text("--against ", path, " is not a file of tessera_bench solvers --json"));
  for (const char* key :
       {"ranks", "clock", "real_bytes", "on_gpu", "raster", "window_px", "step_px", "overrides"})
    if (!committed.contains(key) || committed[key] != now[key])
      throw InputError(text("--against ", path, " was measured with ", key, " = ",
                            committed.contains(key) ? committed[key].dump() : "nothing",
                            ", now it is ", now[key].dump(), "; measure the same case"));
  rows_ = committed["solvers"];
}

std::optional<double> CommittedRatios::ratio(const std::string& method, const std::string& model,
                                             int batch_size) const {
  for (const Json& row : rows_)
    if (row.value("method", "") == method && row.value("model", "") == model &&
        row.value("batch_size", -1) == batch_size && row.value("ratio", 0.0) > 0)
      return row["ratio"].get<double>();
  return {};
}

}  // namespace tessera::scaling
