#include "convert.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "convert_files.hpp"
#include "file_contents.hpp"

namespace tessera::analysis {
namespace {

struct Ending {
  const char* name;
  void (*write)(const std::string& path, const ExportedResult& result);
};

constexpr std::array endings{Ending{".cxi", write_cxi_result},  Ending{".ptyr", write_ptyr},
                             Ending{".npz", write_npz_result},  Ending{".mat", write_mat_result},
                             Ending{".tif", write_tiff_result}, Ending{".tiff", write_tiff_result}};

ExportedResult read_result(const io::File& file) {
  ExportedResult result;
  result.object = file.read_waves("object");
  result.probe = file.read_waves("probe");
  if (file.has("positions_m")) result.positions_m = read_points(file, "positions_m");
  if (file.has("object_origin_m")) result.origin_m = read_points(file, "object_origin_m").front();
  result.pixel_m = file.positive_attribute("/", "object_pixel_m").value_or(0);
  result.wavelength_m = file.positive_attribute("/", "wavelength_m").value_or(0);
  if (result.pixel_m == 0 || result.wavelength_m == 0)
    throw InputError(text('"', file.path(), "\" does not say object_pixel_m and wavelength_m"));
  const auto words = [&](const char* name) { return file.text_attribute("/", name).value_or(""); };
  result.title = words("title");
  result.sample = words("sample");
  result.instrument = words("instrument");
  result.measured_at = words("measured_at");
  return result;
}

void check_endings(const std::string& path, const std::string& ending, bool of_result) {
  std::vector<std::string> names;
  names.reserve(std::size(endings));
  for (const Ending& known : endings) names.emplace_back(known.name);
  if (std::ranges::find(names, ending) == names.end())
    throw InputError(text("-o ends in \"", ending, "\"; it must be one of ", joined(names)));
  if (!of_result && ending != ".cxi")
    throw InputError(text('"', path, "\" is a scan, which is written as .cxi, not \"", ending,
                          "\"; of a result all are possible: ", joined(names)));
}

}  // namespace

std::string convert(const std::string& path, const std::string& out, const comm::Communicator& comm,
                    io::Links links) {
  const std::string ending = std::filesystem::path(out).extension().string();
  comm.together([&] {
    std::error_code unknown;
    if (std::filesystem::equivalent(path, out, unknown))
      throw InputError(text("-o \"", out, "\" is the file that is read; name another"));
    // As it may be a measurement: of other programs' files none says that it was made here.
    if (comm.is_root() && std::filesystem::exists(out, unknown))
      throw InputError(text("-o \"", out, "\" is there already; remove it, or name another"));
  });
  bool of_result = false;
  std::int64_t n_bytes = 0;
  comm.together([&] {
    if (!comm.is_root()) return;
    io::ScanSource source;
    source.path = path;
    source.links = links;
    of_result = io::find_format(source).what == "an HDF5 file" && is_result(io::File::open(path));
    check_endings(path, ending, of_result);
    n_bytes = of_result ? static_cast<std::int64_t>(std::filesystem::file_size(path)) : 0;
  });
  io::AtomicFile file(out, n_bytes, comm);
  std::string lines = text("wrote ", out, '\n');
  comm.together([&] {
    if (!comm.is_root()) return;
    if (!of_result) {
      lines += write_cxi_scan(file.partial_path(), io::describe_scan(path, links));
      return;
    }
    const ExportedResult result = read_result(io::File::open(path));
    std::ranges::find(endings, ending, &Ending::name)->write(file.partial_path(), result);
  });
  file.commit();
  return lines;
}

}  // namespace tessera::analysis
