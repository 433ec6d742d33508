// A file of patterns, as `init`, `inspect` and a run read it: by what it says itself, and by names
// of a deck.

#include <numeric>
#include <string>
#include <vector>

#include "analysis/init.hpp"
#include "analysis/inspect.hpp"
#include "fuzz/foreign_file.hpp"
#include "io/scan_format.hpp"

namespace {

using namespace tessera;

void read(const io::ScanSource& source) {
  const io::ScanInfo info = io::read_scan_info(source, fuzz::world());
  std::vector<int> all(static_cast<std::size_t>(info.n_positions));
  std::iota(all.begin(), all.end(), 0);
  io::read_patterns(source, info, [](int) { return 0; }, all, fuzz::world(), {});
}

/// EMPAD and Merlin are told by a name, or by the file beside them that says what is in them.
std::string name_of(const std::string& start) {
  if (start.starts_with("HDR")) return "scan.hdr";
  return start.starts_with("<") ? "scan.xml" : "scan";
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const std::string empad(6 * 130 * 128 * 4, '\0');
  const fuzz::Bytes bytes(reinterpret_cast<const std::uint8_t*>(empad.data()), empad.size());
  fuzz::write("scan.raw", bytes);
  fuzz::write("scan_x3_y2.raw", bytes);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string name = name_of({data, data + std::min<std::size_t>(size, 3)});
  const std::string path = fuzz::write(name, {data, size});
  if (name == "scan.hdr") fuzz::write("scan.mib", {data, size});
  fuzz::may_refuse(path, [&] { read(io::describe_scan(path).source); });
  fuzz::may_refuse(path, [&] {
    read({.path = path,
          .patterns = "patterns",
          .positions = "positions_m",
          .valid_pixels = "valid_pixels"});
  });
  fuzz::may_refuse(path, [&] { analysis::draft_deck(path, path + ".toml"); });
  fuzz::may_refuse(path, [&] { analysis::inspect_report(path, false); });
  return 0;
}
