#include "report/report.hpp"

#include <filesystem>
#include <fstream>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/compare.hpp"
#include "analysis/file_contents.hpp"
#include "page.hpp"
#include "sections.hpp"

namespace tessera::report {
namespace {

/// Of all pictures of objects and of probes: with them a page stays below 5 MB.
constexpr std::int64_t max_object_pixels = 3 << 18;
constexpr std::int64_t max_probe_pixels = 1 << 18;

Json run_contents(const std::string& path, std::int64_t n_runs) {
  Result result{.file = io::File::open(path), .deck = {}};
  result.deck = analysis::deck_of_result(result.file);
  result.pixel_m = result.file.positive_attribute("/", "object_pixel_m").value_or(0);
  result.wavelength_m = result.file.positive_attribute("/", "wavelength_m").value_or(0);
  const WaveStack probe = result.file.read_waves("probe");
  Json run = {{"file", path},
              {"figures", figures_section(result)},
              {"object", object_section(result, probe, max_object_pixels / n_runs)},
              {"probe", probe_section(result, probe, max_probe_pixels / n_runs)},
              {"background", background_section(result)},
              {"worst_patterns", worst_patterns_section(result)},
              {"history", history_section(result)},
              {"halves", halves_section(result)},
              {"positions", positions_section(result)},
              {"tiles", tiles_section(result)},
              {"ranks", ranks_section(result)},
              {"deck", deck_section(result)}};
  for (const char* name : {"versions", "hosts"})
    if (result.file.has(name)) run[name] = result.file.read_text(name);
  return run;
}

/// Two results that cannot be compared are shown all the same.
/// @param are_results else the second is a simulated scan
Json comparison_contents(const std::string& a, const std::string& b, bool are_results) {
  Json comparison = {{"a", a}, {"b", b}};
  try {
    const comm::Communicator alone(MPI_COMM_SELF);
    const analysis::Comparison found = analysis::compare_files(a, b, alone);
    comparison["found"] = Json::parse(analysis::compare_report(found, /*json=*/true));
  } catch (const AgreedError& error) {
    // This rank alone has heard of it.
    if (!are_results || error.exit_code() != ExitCode::bad_input)
      throw Error(error.exit_code(), error.what());
    comparison["refused"] = error.what();
  }
  return comparison;
}

/// A page replaces a page, and nothing that may be dear to someone.
void check_replaceable(const std::string& out) {
  const std::string beginning = "<!doctype html>";
  std::string there(beginning.size(), '\0');
  std::ifstream file(out, std::ios::binary);
  if (std::filesystem::is_regular_file(out) && file.read(there.data(), std::ssize(there)) &&
      there != beginning)
    throw InputError(text("the report \"", out,
                          "\" is there already, and no page; remove it or name another file"));
}

void check_paths(const std::vector<std::string>& paths, const std::string& out) {
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (std::filesystem::equivalent(path, out, unknown))
      throw InputError(text("-o \"", out, "\" is a file that is read; name another"));
  }
  check_replaceable(out);
  if (!analysis::is_result(io::File::open(paths.front())))
    throw InputError(text('"', paths.front(),
                          "\" is not a result (datasets object, probe); `tessera inspect` says "
                          "what it is"));
}

}  // namespace

Json contents(const std::vector<std::string>& paths) {
  std::vector<std::string> results;
  for (const std::string& path : paths)
    if (analysis::is_result(io::File::open(path))) results.push_back(path);
  Json all = {{"runs", Json::array()}};
  for (const std::string& path : results)
    all["runs"].push_back(
        naming_file(path, [&] { return run_contents(path, std::ssize(results)); }));
  if (paths.size() == 2)
    all["comparison"] = comparison_contents(paths[0], paths[1], results.size() == 2);
  return all;
}

void write(const std::vector<std::string>& paths, const std::string& out,
           const comm::Communicator& comm) {
  std::string page;
  comm.together([&] {
    if (!comm.is_root()) return;
    check_paths(paths, out);
    page = page_of(contents(paths));
  });
  io::AtomicFile file(out, std::ssize(page), comm);
  comm.together([&] {
    if (!comm.is_root()) return;
    std::ofstream to(file.partial_path(), std::ios::binary);
    to << page;
    if (!to.flush()) throw SystemError(text("cannot write the report \"", out, '"'));
  });
  file.commit();
}

}  // namespace tessera::report
