// Prepared data of PtyPy (.ptyd): chunks of frames with their positions, and what they share.

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "dataset_series.hpp"
#include "described_formats.hpp"
#include "file_facts.hpp"

namespace tessera::io {
namespace {

std::optional<ScanDescription> describe_ptypy(const File& file) {
  if (file.members("chunks").empty()) return {};
  const std::string chunk = "chunks/" + file.members("chunks").front();
  if (!file.has(chunk + "/data")) return {};
  ScanDescription scan;
  scan.what = "PtyPy data file";
  scan.patterns = "chunks/*/data";
  if (file.has(chunk + "/positions")) scan.positions = "chunks/*/positions";
  // PtyPy's weights and masks: 0 = not trusted.
  if (file.has(chunk + "/mask"))
    scan.valid_pixels = "chunks/*/mask";
  else if (const std::string shared = first_dataset(file, {"meta/weight2d", "meta/mask"});
           !shared.empty() && file.info(shared).extents.size() == 2)
    scan.valid_pixels = shared;
  state_energy(find_number(file, {"meta/energy", "info/energy"}), "keV", scan);
  state_length("experiment.distance_m", find_number(file, {"meta/distance", "info/distance"}), "m",
               scan);
  state_length("experiment.detector_pixel_m", find_number(file, {"meta/psize", "info/psize"}), "m",
               scan);
  return scan;
}

}  // namespace

ScanFormat ptypy_scans() {
  return described<describe_ptypy>("ptypy");
}

}  // namespace tessera::io
