#include "hdf5_storage.hpp"

#include <array>
#include <filesystem>

#include "tessera/base/text.hpp"

namespace tessera::io {
namespace {

void describe_filters(hid_t plist, DatasetInfo& info) {
  const int n_filters = H5Pget_nfilters(plist);
  for (int i = 0; i < n_filters; ++i) {
    char name[64] = "";
    std::size_t n_parameters = 0;
    const H5Z_filter_t filter = H5Pget_filter2(plist, static_cast<unsigned>(i), nullptr,
                                               &n_parameters, nullptr, sizeof name, name, nullptr);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      info.missing_filters.push_back(text(
          name, " (filter ", filter, "), which this HDF5 does not have; ", filter_remedy(filter)));
  }
}

/// Without the slash in front.
std::string path_in_file(std::string name) {
  name.erase(0, name.find_first_not_of('/'));
  return name;
}

/// HDF5 would read such a one without end.
void refuse_itself_as_source(hid_t dataset, hid_t plist, std::size_t source,
                             const std::string& path) {
  std::array<char, 4096> own{};
  std::array<char, 4096> name{};
  H5Iget_name(dataset, own.data(), own.size());
  check_hdf5(H5Pget_virtual_dsetname(plist, source, name.data(), name.size()),
             "reading a virtual dataset");
  if (path_in_file(own.data()) == path_in_file(name.data()))
    throw InputError(text("dataset \"", path_in_file(own.data()), "\" of \"", path,
                          "\" is virtual and its own source; write the file again"));
}

/// HDF5 looks for them beside the file that refers to them, and in the working folder.
void find_missing_sources(hid_t dataset, hid_t plist, const std::string& path, DatasetInfo& info) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::size_t n = 0;
  check_hdf5(H5Pget_virtual_count(plist, &n), "reading a virtual dataset");
  std::string last;
  for (std::size_t i = 0; i < n; ++i) {
    std::array<char, 4096> name{};
    check_hdf5(H5Pget_virtual_filename(plist, i, name.data(), name.size()),
               "reading a virtual dataset");
    const std::string source = name.data();
    std::error_code unknown;
    const bool is_here =
        source == "." || std::filesystem::equivalent(folder / source, path, unknown);
    if (is_here) refuse_itself_as_source(dataset, plist, i, path);
    const bool is_counted = source.find('%') != std::string::npos;
    if (is_here || is_counted || source == last) continue;
    last = source;
    if (!std::filesystem::exists(folder / source) && !std::filesystem::exists(source))
      info.missing_files.push_back(source);
  }
}

/// Values that lie as they are in another file, which may be any file: of the scan's folder alone.
void check_external_files(hid_t plist, const std::string& path) {
  const int n = H5Pget_external_count(plist);
  for (int i = 0; i < n; ++i) {
    std::array<char, 4096> name{};
    off_t offset = 0;
    hsize_t size = 0;
    check_hdf5(H5Pget_external(plist, static_cast<unsigned>(i), name.size() - 1, name.data(),
                               &offset, &size),
               "reading a dataset's external files");
    const std::filesystem::path file = name.data();
    std::error_code unknown;
    const bool is_beside = std::filesystem::equivalent(
        file.has_parent_path() ? file.parent_path() : ".",
        path.find('/') == std::string::npos ? "." : std::filesystem::path(path).parent_path(),
        unknown);
    if (!is_beside)
      throw InputError(
          text('"', path, "\" has values in \"", file.string(),
               "\", outside its folder, which may be any file; repack it with h5repack"));
    if (!std::filesystem::is_regular_file(file))
      throw InputError(text('"', path, "\" has values in \"", file.string(),
                            "\", which is not there; put it in its place"));
  }
}

std::string file_of(hid_t object) {
  std::array<char, 4096> name{};
  return H5Fget_name(object, name.data(), name.size()) > 0 ? name.data() : "";
}

/// "" unless the link itself is there.
std::string target_of(hid_t file, const std::string& link) {
  H5L_info_t info;
  if (H5Lexists(file, link.c_str(), H5P_DEFAULT) <= 0 ||
      H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_HARD)
    return "";
  std::string value(info.u.val_size + 1, '\0');
  if (H5Lget_val(file, link.c_str(), value.data(), info.u.val_size, H5P_DEFAULT) < 0) return "";
  if (info.type == H5L_TYPE_SOFT) return text('"', value.c_str(), '"');
  const char* other = nullptr;
  const char* object = nullptr;
  unsigned flags = 0;
  if (H5Lunpack_elink_val(value.data(), info.u.val_size, &flags, &other, &object) < 0) return "";
  return text('"', object, "\" of \"", other, "\", a file beside this one");
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

void describe_storage(hid_t dataset, const std::string& path, DatasetInfo& info) {
  const Hid plist = checked(H5Dget_create_plist(dataset), H5Pclose, "reading a dataset's layout");
  const H5D_layout_t layout = H5Pget_layout(plist);
  const std::string file = file_of(dataset);
  std::error_code unknown;
  info.is_virtual = layout == H5D_VIRTUAL || !std::filesystem::equivalent(file, path, unknown);
  check_external_files(plist, file);
  if (layout == H5D_VIRTUAL) find_missing_sources(dataset, plist, file, info);
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
      if (const std::string target = target_of(file, part); !target.empty())
        return text("; \"", part, "\" is a link to ", target,
                    ", which is not there; put the linked file in its place");
    if (end == std::string::npos) return "";
  }
}

}  // namespace tessera::io
