// Merlin's MIB files (Merlin user manual, "Data file format"), with the header file beside them.

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "file_facts.hpp"
#include "flat_scan.hpp"
#include "marked_text.hpp"

namespace tessera::io {
namespace {

/// Of NAME.mib or of NAME.hdr.
std::string beside(const std::string& path, const char* ending) {
  return std::filesystem::path(path).replace_extension(ending).string();
}

bool is_header_file(const std::string& path) {
  return read_words(path).starts_with("HDR,");
}

std::string frames_file(const std::string& path) {
  return is_header_file(path) ? beside(path, ".mib") : path;
}

/// "Frames per Trigger (Number):\t128" of the header file.
std::string header_entry(const std::string& path, const std::string& name) {
  return between(read_words(beside(path, ".hdr")), name + ":\t", "\n");
}

/// A trigger for each row, unless it is one for each pattern.
std::vector<int> raster_of(const std::string& path, int n_positions) {
  const auto number = [&](const char* name) { return std::atoi(header_entry(path, name).c_str()); };
  int columns = number("ScanX");
  if (columns == 0) columns = number("Frames per Trigger (Number)");
  if (columns < 2 || columns >= n_positions || n_positions % columns != 0) return {};
  return {n_positions / columns, columns};
}

/// A frame's header, ASCII: MQ1, number of the frame, bytes of the header, chips, width, height,
/// type of the pixels, big endian.
FlatPatterns merlin_patterns(const ScanSource& source) {
  const std::string path = frames_file(source.path);
  std::string header = read_words(path).substr(0, 128);
  std::vector<std::string> words;
  for (std::size_t comma; words.size() < 7 && (comma = header.find(',')) != std::string::npos;
       header.erase(0, comma + 1))
    words.push_back(header.substr(0, comma));
  const std::string type = words.size() < 7 ? "" : words[6].substr(0, 3);
  if (type != "U08" && type != "U16" && type != "U32")
    throw InputError(
        text('"', path, "\" holds pixels of type '", type,
             "', Merlin's raw mode, which LiberTEM converts: python3 -c \"import libertem.api "
             "as lt; from libertem.udf.record import RecordUDF as R; c = "
             "lt.Context.make_with('inline'); c.run_udf(c.load('mib', "
             "path='scan.hdr'), R('scan.npy'))\""));
  const auto field = [&](std::size_t i) { return std::atoi(words[i].c_str()); };
  FlatPatterns flat{.path = path, .type = {'u', std::atoi(type.c_str() + 1) / 8, true}};
  flat.first_byte = field(2);
  flat.bytes_between = flat.first_byte;
  flat.shape = {field(5), field(4)};
  const std::int64_t frame = flat.first_byte + flat.shape.size() * flat.type.bytes;
  const auto n_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
  if (flat.shape.size() <= 0 || flat.first_byte <= 0 || n_bytes < frame ||
      n_bytes / frame > INT_MAX)
    throw InputError(text('"', path, "\" holds no whole frame; copy or write it again"));
  if (n_bytes % frame != 0)
    throw InputError(text('"', path, "\" is cut short, at ", n_bytes, " bytes in frames of ", frame,
                          "; copy or write it again"));
  flat.n_positions = static_cast<int>(n_bytes / frame);
  flat.raster = raster_of(path, flat.n_positions);
  return flat;
}

std::optional<ScanDescription> describe_mib(const std::string& path) {
  ScanDescription scan;
  scan.what = "Merlin MIB file";
  const int n_said = std::atoi(header_entry(path, "Frames in Acquisition (Number)").c_str());
  const int n_there =
      merlin_patterns({.path = path, .patterns = {}, .positions = {}, .valid_pixels = {}})
          .n_positions;
  if (n_said > n_there)
    scan.warnings.push_back(text("the header file says ", n_said, " frames, the file holds ",
                                 n_there, ": was it copied to its end?"));
  std::string when = header_entry(path, "Time and Date Stamp (day, mnth, yr, hr, min, s)");
  while (!when.empty() && (when.back() == '\r' || when.back() == ' ')) when.pop_back();
  if (!when.empty()) scan.statements.push_back({"measured_at", in_quotes(when), "the header file"});
  return scan;
}

}  // namespace

ScanFormat mib_scans() {
  return {"mib", "a Merlin MIB file",
          [](const ScanSource& source) {
            return read_words(frames_file(source.path)).starts_with("MQ1,");
          },
          [](const ScanSource& source, const comm::Communicator*) {
            return open_flat_scan(merlin_patterns(source), source);
          },
          [](const ScanSource& source) { return describe_mib(source.path); }};
}

}  // namespace tessera::io
