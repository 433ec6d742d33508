// A result, as `inspect`, `report` and `compare` read it, and what `resume` asks first.

#include "tessera/io/save.hpp"

#include "analysis/compare.hpp"
#include "analysis/inspect.hpp"
#include "fuzz/foreign_file.hpp"
#include "report/report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  const std::string path = fuzz::write("result.h5", {data, size});
  fuzz::may_refuse(path, [&] { io::soundness_of(path, fuzz::world()); });
  fuzz::may_refuse(path, [&] { analysis::inspect_report(path, true); });
  fuzz::may_refuse(path, [&] { report::contents({path}); });
  // compare's driver names the files.
  fuzz::may_refuse("", [&] {
    analysis::compare_report(analysis::compare_files(path, path, fuzz::world()), false);
  });
  return 0;
}
