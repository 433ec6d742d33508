// What lies beside the patterns: positions, mask, background and start probe in files of their own,
// HDF5, NumPy or text.

#include <string>

#include "fuzz/foreign_file.hpp"
#include "io/scan_format.hpp"

namespace {

using namespace tessera;

constexpr int n_patterns = 9;
constexpr int width = 6;
std::string scan;

void read(io::ScanSource source) {
  source.path = scan;
  source.patterns = "patterns";
  io::read_scan_info(source, fuzz::world());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::string bytes = "{'descr': '|u1', 'fortran_order': False, 'shape': (9, 6, 6), }";
  bytes.resize(117, ' ');
  bytes = std::string("\x93NUMPY\x01\0\x76\0", 10) + bytes + '\n' +
          std::string(n_patterns * width * width, '\3');
  scan =
      fuzz::write("scan.npy", {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::write("beside", {data, size});
  fuzz::may_refuse(path, [&] { read({.positions = "positions_m", .positions_file = path}); });
  fuzz::may_refuse(path, [&] {
    read({.positions = "positions_m", .positions_file = path, .positions_columns = {{2, 1}}});
  });
  fuzz::may_refuse(path, [&] { read({.valid_pixels = "mask", .mask_file = path}); });
  fuzz::may_refuse(path, [&] { read({.background = "dark", .background_file = path}); });
  fuzz::may_refuse(path, [&] { io::read_probe_file(path, "probe"); });
  return 0;
}
