#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "hdf5_handle.hpp"
#include "scan_format.hpp"

namespace tessera::io {
namespace {

std::optional<std::string> named(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(name);
}

/// A link that leads nowhere, or where it is not followed, may be why there are no patterns.
/// @throws InputError that names it
/// @param depth of groups to look into: links may lead back
void refuse_links_not_followed(const File& file, const std::string& group, int depth = 6) {
  if (depth == 0) return;
  for (const std::string& member : file.members(group)) {
    const std::string name = group + member;
    if (!file.has(name) || file.has_dataset(name)) file.info(name);
    refuse_links_not_followed(file, name + '/', depth - 1);
  }
}

}  // namespace

DescribedScan describe_scan(const std::string& path, Links links) {
  DescribedScan scan;
  scan.source.path = path;
  scan.source.links = links;
  scan.format = &find_format(scan.source);
  std::optional<ScanDescription> said;
  if (scan.format->describe)
    said = naming_file(path, [&] { return scan.format->describe(scan.source); });
  if (!said && is_hdf5(path)) refuse_links_not_followed(File::open(path, links), "/");
  if (!said)
    throw InputError(text('"', path, "\" holds no patterns, no 3-D or 4-D dataset of numbers"));
  scan.said = *said;
  scan.source.format = scan.format->name;
  scan.source.patterns = said->patterns;
  scan.source.positions = named(said->positions);
  scan.source.positions_file = said->positions_file;
  scan.source.positions_columns = said->positions_columns;
  scan.source.positions_scale = said->positions_scale;
  scan.source.valid_pixels = named(said->valid_pixels);
  scan.source.bad_pixels = named(said->bad_pixels);
  scan.source.harmless_bits = said->harmless_bits;
  scan.source.zero_frequency_centred = !said->is_cornered;
  scan.source.negative_counts = NegativeCounts::ignore;
  return scan;
}

}  // namespace tessera::io
