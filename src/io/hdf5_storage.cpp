#include "hdf5_storage.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/text.hpp"

namespace tessera::io {
namespace {

namespace fs = std::filesystem;

void describe_filters(hid_t plist, DatasetInfo& info) {
  const int n_filters = H5Pget_nfilters(plist);
  for (int i = 0; i < n_filters; ++i) {
    char name[64] = "";
    std::size_t n_parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(plist, static_cast<unsigned>(i), nullptr,
                                               &n_parameters, nullptr, sizeof name, name, nullptr);
    info.is_deflated |= filter == H5Z_FILTER_DEFLATE;
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      info.missing_filters.push_back(text(
          name, " (filter ", filter, "), which this HDF5 does not have; ", filter_remedy(filter)));
  }
}

std::string file_of(hid_t object) {
  std::array<char, 4096> name{};
  return H5Fget_name(object, name.data(), name.size()) > 0 ? name.data() : "";
}

std::string name_of(hid_t dataset) {
  std::array<char, 4096> name{};
  return H5Iget_name(dataset, name.data(), name.size()) > 0 ? name.data() : "";
}

/// A source of a virtual dataset, and where HDF5 finds its file: beside the file that refers to it,
/// or in the working folder. Numbered ones stand for all of their row.
struct Source {
  std::string file;
  std::string dataset;
  std::string found;  ///< empty: nowhere
  bool is_numbered() const { return (file + dataset).find("%b") != std::string::npos; }
};

std::string found_by_hdf5(const std::string& source, const std::string& from) {
  if (source == ".") return from;
  const fs::path folder = fs::path(from).parent_path();
  std::error_code unknown;
  const fs::path name = fs::exists(source, unknown) || !fs::path(source).is_absolute()
                            ? fs::path(source)
                            : fs::path(source).filename();
  for (const fs::path& path : {folder / name, name})
    if (fs::exists(path, unknown)) return path;
  return "";
}

/// Sources that follow one another and are the same are named once.
std::vector<Source> sources_of(hid_t plist, const std::string& from) {
  std::size_t n = 0;
  check_hdf5(H5Pget_virtual_count(plist, &n), "reading a virtual dataset");
  std::vector<Source> sources;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<char, 4096> file{};
    std::array<char, 4096> dataset{};
    check_hdf5(H5Pget_virtual_filename(plist, i, file.data(), file.size()),
               "reading a virtual dataset");
    check_hdf5(H5Pget_virtual_dsetname(plist, i, dataset.data(), dataset.size()),
               "reading a virtual dataset");
    if (!sources.empty() && sources.back().file == file.data() &&
        sources.back().dataset == dataset.data())
      continue;
    sources.push_back({file.data(), dataset.data(), found_by_hdf5(file.data(), from)});
  }
  return sources;
}

void find_missing_sources(hid_t plist, const std::string& from, DatasetInfo& info) {
  for (const Source& source : sources_of(plist, from))
    if (source.found.empty() && !source.is_numbered()) info.missing_files.push_back(source.file);
}

/// The number of a block in place of each "%b".
std::string with_number(std::string name, std::size_t number) {
  for (std::size_t at = 0; (at = name.find('%', at)) != std::string::npos;) {
    const std::string digits = name.compare(at, 2, "%b") == 0 ? std::to_string(number) : "%";
    name.replace(at, 2, digits);
    at += digits.size();
  }
  return name;
}

constexpr const char* not_readable = "is no HDF5 file, or cut short; copy or write it again";

/// Follows a dataset to all files that its values come from.
class Reach {
  using Place = std::pair<std::string, std::string>;  ///< a file, and a dataset of it

 public:
  Reach(std::string path, Links links) : path_(std::move(path)), links_(links) {}

  void check(hid_t dataset) {
    const std::string file = file_of(dataset);
    std::error_code unknown;
    const Place here(fs::weakly_canonical(file, unknown), name_of(dataset));
    if (std::ranges::find(way_, here) != way_.end() || way_.size() > max_depth)
      throw InputError(text("dataset \"", here.second, "\" of \"", file,
                            "\" is virtual and its own source, or more than ", max_depth,
                            " lie one in another; write the file again"));
    if (!seen_.insert(here).second) return;
    check_place(file);
    const Hid plist = checked(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset's layout");
    check_external(plist);
    if (H5Pget_layout(plist) != H5D_VIRTUAL) return;
    way_.push_back(here);
    for (const Source& source : sources_of(plist, file)) check_source(dataset, source);
    way_.pop_back();
  }

 private:
  static constexpr std::size_t max_depth = 8;

  /// In the folder of the file, as it is called or really lies, or below.
  bool is_beside(const fs::path& file) const {
    std::error_code unknown;
    const auto folder_of = [&](const fs::path& of) {
      return fs::weakly_canonical(fs::absolute(of, unknown).parent_path(), unknown).string() + '/';
    };
    const std::string folder = folder_of(file);
    const fs::path real = fs::canonical(path_, unknown);
    return folder.starts_with(folder_of(path_)) ||
           (!real.empty() && folder.starts_with(folder_of(real)));
  }

  void check_place(const std::string& file) const {
    if (links_ == Links::anywhere || is_beside(file)) return;
    throw InputError(
        text('"', path_, "\" has values in \"", file,
             "\", outside its folder, which may be any file; put that beside it, or "
             "set data.follow_links = true (init, look, convert: --follow-links) if you trust it"));
  }

  /// Values that lie as they are in another file.
  void check_external(hid_t plist) const {
    const int n = H5Pget_external_count(plist);
    for (int i = 0; i < n; ++i) {
      std::array<char, 4096> name{};
      off_t offset = 0;
      hsize_t size = 0;
      check_hdf5(H5Pget_external(plist, static_cast<unsigned>(i), name.size() - 1, name.data(),
                                 &offset, &size),
                 "reading a dataset's external files");
      check_place(name.data());
      if (!fs::is_regular_file(name.data()))
        throw InputError(text('"', path_, "\" has values in \"", name.data(),
                              "\", which is not there; put it in its place"));
    }
  }

  void check_source(hid_t dataset, const Source& source) {
    if (!source.is_numbered()) {
      if (!check_source(dataset, source.file, source.dataset) && !source.found.empty())
        throw InputError(text("dataset \"", name_of(dataset), "\" of \"", path_,
                              "\" is virtual: its values are those of \"", source.dataset,
                              "\" in \"", source.found,
                              "\", which has no such dataset; write the file again"));
      return;
    }
    for (std::size_t number = 0;; ++number)
      if (!check_source(dataset, with_number(source.file, number),
                        with_number(source.dataset, number)))
        return;
  }

  /// Whether there is such a dataset.
  bool check_source(hid_t dataset, const std::string& file, const std::string& name) {
    const std::string found = found_by_hdf5(file, file_of(dataset));
    if (found.empty()) return false;
    check_place(found);
    const Hid opened(
        file == "." ? H5Iget_file_id(dataset) : H5Fopen(found.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT),
        H5Fclose);
    // HDF5 would take zeros for its values.
    if (opened < 0)
      throw InputError(text('"', path_, "\" has values in \"", found, "\", which ", not_readable));
    if (H5Lexists(opened, name.c_str(), H5P_DEFAULT) <= 0) return false;
    const Hid below(H5Dopen2(opened, name.c_str(), H5P_DEFAULT), H5Dclose);
    if (below >= 0) check(below);
    return below >= 0;
  }

  std::string path_;
  Links links_;
  std::set<Place> seen_;
  std::vector<Place> way_;  ///< virtual datasets that lead to the one in work
};

/// Where it leads, and why not; "" unless the link itself is there.
std::string words_of_link(hid_t file, const std::string& link) {
  constexpr const char* not_there = ", which is not there; put the linked file in its place";
  H5L_info_t info;
  if (H5Lexists(file, link.c_str(), H5P_DEFAULT) <= 0 ||
      H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD)
    return "";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, link.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) return "";
  if (info.type == H5L_TYPE_SOFT) return text('"', value.c_str(), '"', not_there);
  const char* other = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) return "";
  const std::string words = text('"', object, "\" of \"", other, "\", a file beside this one");
  const std::string found = found_by_hdf5(other, file_of(file));
  if (found.empty()) return words + not_there;
  const Hid opened(H5Fopen(found.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  return opened < 0 ? text(words, ", which ", not_readable)
                    : words + ", which has no such object; write the file again";
}

}  // namespace

std::string filter_remedy(H5Z_filter_t filter) {
  const auto install = [](const char* package) {
    return text("install Debian's package ", package, " or point HDF5_PLUGIN_PATH to the plugin");
  };
  switch (filter) {
    case 307:
    case 32004:
      return install("hdf5-filter-plugin");
    case 32000:
      return install("hdf5-plugin-lzf");
    case 32001:
      return install("hdf5-filter-plugin-blosc-serial");
    case 32008:
      return install("bitshuffle");
    case 32013:
      return install("hdf5-filter-plugin-zfp-serial");
    default:
      return "pip install hdf5plugin, point HDF5_PLUGIN_PATH to its folder hdf5plugin/plugins, or "
             "repack the file with h5repack -f GZIP=1";
  }
}

void check_reach(hid_t dataset, const std::string& path, Links links) {
  Reach(path, links).check(dataset);
}

namespace {

/// A damaged length of a chunk would have HDF5 take gigabytes for it before it looks for the chunk.
void check_room(hid_t dataset, std::int64_t stored_bytes) {
  const Hid home(H5Iget_file_id(dataset), H5Fclose);
  hsize_t n_bytes = 0;
  check_hdf5(H5Fget_filesize(home, &n_bytes), "asking for a file's length");
  if (stored_bytes <= static_cast<std::int64_t>(n_bytes)) return;
  throw InputError(text("dataset \"", name_of(dataset), "\" of \"", file_of(dataset),
                        "\" says that it takes ", stored_bytes, " bytes of the file, which has ",
                        n_bytes, ": the file is damaged; copy or write it again"));
}

}  // namespace

void describe_storage(hid_t dataset, const std::string& path, DatasetInfo& info) {
  const Hid plist = checked(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset's layout");
  const H5D_layout_t layout = H5Pget_layout(plist);
  const std::string file = file_of(dataset);
  std::error_code unknown;
  info.is_virtual = layout == H5D_VIRTUAL || !std::filesystem::equivalent(file, path, unknown);
  if (layout == H5D_VIRTUAL)
    find_missing_sources(plist, file, info);
  else if (H5Pget_external_count(plist) == 0)
    check_room(dataset, info.stored_bytes);
  if (layout == H5D_CHUNKED) {
    std::vector<hsize_t> chunk(info.extents.size());
    check_hdf5(H5Pget_chunk(plist, static_cast<int>(chunk.size()), chunk.data()),
               "reading a dataset's chunks");
    info.chunk.assign(chunk.begin(), chunk.end());
  }
  describe_filters(plist, info);
}

std::string link_to_nowhere(hid_t file, const std::string& name) {
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const std::string part = name.substr(0, end);
    if (H5Lexists(file, part.c_str(), H5P_DEFAULT) <= 0) return "";
    if (H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) <= 0)
      if (const std::string target = words_of_link(file, part); !target.empty())
        return text("; \"", part, "\" is a link to ", target);
    if (end == std::string::npos) return "";
  }
}

}  // namespace tessera::io
