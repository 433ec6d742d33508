#include "described_formats.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "hdf5_scan.hpp"

namespace tessera::io {
namespace {

/// What the source leaves as it is by default is what the file says of itself.
ScanSource completed(ScanSource source, const ScanDescription& scan) {
  if (source.patterns == default_patterns) source.patterns = scan.patterns;
  if (source.positions == default_positions && source.positions_file.empty()) {
    source.positions.reset();
    if (!scan.positions.empty()) source.positions = scan.positions;
    source.positions_columns = scan.positions_columns;
    source.positions_scale = scan.positions_scale;
    source.positions_file = scan.positions_file;
  }
  if (!source.valid_pixels && !source.bad_pixels) {
    if (!scan.valid_pixels.empty()) source.valid_pixels = scan.valid_pixels;
    if (!scan.bad_pixels.empty()) source.bad_pixels = scan.bad_pixels;
  }
  source.harmless_bits = scan.harmless_bits;
  return source;
}

File open(const ScanSource& source, const comm::Communicator* comm) {
  return comm ? File::open(source.path, *comm, source.links)
              : File::open(source.path, source.links);
}

}  // namespace

bool is_described(const ScanSource& source, Describe describe) {
  if (!is_hdf5(source.path)) return false;
  const File file = File::open(source.path, source.links);
  return !file.has(source.patterns) && describe(file).has_value();
}

std::unique_ptr<ScanReader> open_described(const ScanSource& source, const comm::Communicator* comm,
                                           Describe describe) {
  File file = open(source, comm);
  const auto scan = describe(file);
  if (!scan)
    throw InputError(text('"', source.path, "\" is not what data.format = \"", source.format,
                          "\" says; leave that out, or name the datasets with data.format = "
                          "\"hdf5\""));
  return open_hdf5_scan(std::move(file), completed(source, *scan), scan->has_frames_last);
}

ScanFormat hdf5_scans() {
  return {"hdf5", "an HDF5 file", [](const ScanSource& source) { return is_hdf5(source.path); },
          [](const ScanSource& source, const comm::Communicator* comm) {
            return open_hdf5_scan(open(source, comm), source);
          },
          [](const ScanSource& source) { return describe_hdf5(open(source, nullptr)); }};
}

}  // namespace tessera::io
