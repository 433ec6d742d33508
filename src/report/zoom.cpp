#include "report/zoom.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/base/naming.hpp"
#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"

#include "analysis/file_contents.hpp"
#include "analysis/object_picture.hpp"
#include "analysis/zoom_tiles.hpp"
#include "page.hpp"
#include "page_parts.hpp"

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Tells what this has written from what others have.
constexpr const char* maker = "tessera inspect --deep-zoom";

struct Leaflet {
  std::string script;
  std::string style;
};

Leaflet read_leaflet() {
  const char* given = std::getenv("TESSERA_LEAFLET");
  const std::string folder = given ? given : "/usr/share/javascript/leaflet";
  Leaflet library{contents_of_file(folder + "/leaflet.js"),
                  contents_of_file(folder + "/leaflet.css")};
  if (library.script.empty() || library.style.empty())
    throw InputError(text("--deep-zoom needs Leaflet, and \"", folder,
                          "\" does not hold its leaflet.js and leaflet.css; install Debian's "
                          "package libjs-leaflet, or let TESSERA_LEAFLET name a folder with both"));
  return library;
}

io::File open_result(const std::string& path) {
  const auto refuse = [&] {
    return InputError(text("--deep-zoom shows results, and \"", path,
                           "\" is none (datasets object, probe); --png draws scans, too"));
  };
  if (analysis::is_deck(path)) throw refuse();
  io::File file = io::File::open(path);
  if (!analysis::is_result(file)) throw refuse();
  return file;
}

/// One that is shown: all slices multiplied, or one of them.
struct Picture {
  std::string name;
  std::string file;  ///< how its files begin
  std::optional<int> image;
  analysis::ObjectLook look;

  std::string stem(const char* quantity) const { return text(file, '_', quantity); }
};

constexpr const char* quantities[] = {"phase", "amplitude"};

std::vector<Picture> pictures_of(const io::File& file) {
  const int n_images = analysis::n_object_images(file);
  const auto deck = analysis::deck_of_result(file);
  const int n_slices = deck ? deck->object.n_slices : 0;
  const int n_modes = deck ? deck->object.n_modes : 0;
  std::vector<Picture> pictures{
      {n_slices == 1 || n_images == 1 ? "object" : "slices multiplied", "object", {}, {}}};
  for (int i = 0; n_images > 1 && i < n_images; ++i) {
    const std::string name = analysis::object_image_name(i, n_slices, n_modes);
    std::string words = name;
    std::erase(words, ',');
    std::ranges::replace(words, ' ', '_');
    pictures.push_back({name, words, i, {}});
  }
  return pictures;
}

/// Each by one of the ranks. Collective.
void find_looks(const io::File& file, std::vector<Picture>& pictures,
                const comm::Communicator& comm) {
  struct Found {
    int picture;
    analysis::ObjectLook look;
  };
  std::vector<Found> found;
  comm.together([&] {
    WaveStack probe;
    for (int i = comm.rank(); i < std::ssize(pictures); i += comm.size()) {
      if (probe.size() == 0) probe = file.read_waves("probe");
      found.push_back(
          {i, analysis::object_look(file, probe, pictures[static_cast<std::size_t>(i)].image)});
    }
  });
  for (const Found& each : comm.all_gather(std::span<const Found>(found)))
    pictures[static_cast<std::size_t>(each.picture)].look = each.look;
}

/// The folder of the page, which rank 0 alone changes.
class Folder {
 public:
  explicit Folder(const std::string& path) : path_(path) {}
  /// @throws InputError if it holds what this has not written
  void check() const {
    std::error_code error;
    if (!fs::exists(path_, error) && !error) return;
    const bool is_usable =
        fs::is_directory(path_, error) && (fs::is_empty(path_, error) || is_ours(page())) && !error;
    if (!is_usable)
      throw InputError(text("--deep-zoom \"", path_.string(), "\" ",
                            error ? error.message() : "is there already and holds other things",
                            "; name a new folder, or one that --deep-zoom has written"));
  }
  std::string page() const { return path_ / "index.html"; }
  std::string file(const std::string& name) const { return path_ / name; }
  analysis::ZoomFolders tiles_of(const Picture& picture) const {
    return {file(picture.stem("amplitude") + "_files"), file(picture.stem("phase") + "_files")};
  }

  /// Removes what was there, and makes the folders of the tiles.
  void make(const std::vector<Picture>& pictures) {
    std::error_code error;
    is_new_ = fs::create_directories(path_, error);
    if (error)
      throw InputError(text("cannot make the folder --deep-zoom \"", path_.string(),
                            "\": ", error.message(), "; choose one that can be written"));
    remove_files();
    // Until the page stands this says whose the folder is.
    write(page(), text("<!doctype html>\n<meta name=\"generator\" content=\"", maker,
                       "\">\n<p>The tiles of this page were not finished; make it again.</p>\n"));
    for (const Picture& picture : pictures) {
      for (const char* quantity : quantities)
        write(file(picture.stem(quantity) + ".dzi"), description(picture.look.box.shape()));
      analysis::make_zoom_folders(tiles_of(picture),
                                  analysis::ZoomLevels(picture.look.box.shape()));
    }
  }

  void write(const std::string& path, const std::string& words) const {
    std::ofstream to(path, std::ios::binary);
    to << words;
    if (!to.flush()) throw SystemError(text("cannot write \"", path, '"'));
  }

  /// All that was written, as far as that can be done.
  void remove() const {
    std::error_code error;
    remove_files();
    fs::remove(page(), error);
    if (is_new_) fs::remove(path_, error);
  }

 private:
  static bool is_ours(const std::string& file) {
    return contents_of_file(file).substr(0, 1000).find(maker) != std::string::npos;
  }

  void remove_files() const {
    std::error_code error;
    std::vector<fs::path> ours;
    for (const auto& entry : fs::directory_iterator(path_, error))
      if (entry.path().extension() == ".dzi" && is_ours(entry.path())) ours.push_back(entry.path());
    for (const fs::path& description : ours) {
      fs::remove_all(path_ / (description.stem().string() + "_files"), error);
      fs::remove(description, error);
    }
  }

  /// https://learn.microsoft.com/previous-versions/windows/silverlight/dotnet-windows-silverlight/cc645077(v=vs.95)
  static std::string description(Shape2 shape) {
    return text("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- ", maker,
                " -->\n<Image xmlns=\"http://schemas.microsoft.com/deepzoom/2008\" Format=\"png\" "
                "Overlap=\"0\" TileSize=\"",
                analysis::ZoomLevels::tile_px, "\"><Size Width=\"", shape.w, "\" Height=\"",
                shape.h, "\"/></Image>\n");
  }

  fs::path path_;
  bool is_new_ = false;
};

Json shown(const Picture& picture) {
  const analysis::ObjectLook& look = picture.look;
  const Shape2 shape = look.box.shape();
  const auto quantity = [&](const char* name, const char* unit, const analysis::GreyRange& range) {
    return Json{{"name", name},
                {"unit", unit},
                {"tiles", picture.stem(name) + "_files"},
                {"range", {range.least, range.most}}};
  };
  return {{"name", picture.name},
          {"shape_px", {shape.h, shape.w}},
          {"begin_px", {look.box.begin.y, look.box.begin.x}},
          {"last_level", analysis::ZoomLevels(shape).last()},
          {"quantities",
           {quantity("phase", "rad", look.phase), quantity("amplitude", "", look.amplitude)}}};
}

std::string page_of(const io::File& file, const std::vector<Picture>& pictures,
                    const Leaflet& library) {
  Json contents = {{"file", fs::path(file.path()).filename().string()},
                   {"title", file.text_attribute("/", "title").value_or("")},
                   {"pixel_m", file.positive_attribute("/", "object_pixel_m").value_or(0)},
                   {"tile_px", analysis::ZoomLevels::tile_px}};
  for (const Picture& picture : pictures) contents["pictures"].push_back(shown(picture));
  return filled(page_parts::zoom_html,
                {{"maker", maker},
                 {"style", text(library.style, page_parts::zoom_css)},
                 {"library", library.script},
                 {"contents", as_script(contents)},
                 {"script", text(page_parts::values_js, page_parts::zoom_js)}});
}

}  // namespace

std::string write_zoom_page(const std::string& path, const std::string& folder,
                            const comm::Communicator& comm) {
  std::optional<io::File> file;
  std::vector<Picture> pictures;
  Folder to(folder);
  Leaflet library;
  comm.together([&] {
    naming_file(path, [&] {
      file = open_result(path);
      pictures = pictures_of(*file);
    });
    if (comm.is_root()) library = read_leaflet();
    if (comm.is_root()) to.check();
  });
  naming_file(path, [&] { find_looks(*file, pictures, comm); });
  try {
    comm.together([&] {
      if (comm.is_root()) to.make(pictures);
    });
    for (const Picture& picture : pictures)
      analysis::write_zoom_tiles(*file, picture.look, to.tiles_of(picture), comm);
    comm.together([&] {
      if (comm.is_root()) to.write(to.page(), page_of(*file, pictures, library));
    });
  } catch (const AgreedError&) {
    if (comm.is_root()) to.remove();
    comm.barrier();
    throw;
  }
  return to.page();
}

}  // namespace tessera::report
