#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "hdf5_slab.hpp"
#include "hdf5_storage.hpp"
#include "held_values.hpp"

namespace tessera::io {
namespace {

std::string lower_case(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// "; did you mean ..." or the names there are.
std::string hint(std::string name, const std::vector<std::string>& candidates) {
  name.erase(0, name.find_first_not_of('/'));
  for (const std::string& candidate : candidates)
    if (lower_case(candidate) == lower_case(name))
      return text("; did you mean \"", candidate, "\"?");
  if (const std::string nearest = nearest_name(name, candidates); !nearest.empty())
    return text("; did you mean \"", nearest, "\"?");
  if (candidates.empty()) return "; it has no datasets at all";
  constexpr std::size_t max = 12;
  const bool all = candidates.size() <= max;
  return text("; it has ",
              joined({candidates.begin(), all ? candidates.end() : candidates.begin() + max}),
              all ? "" : ", ...");
}

bool is_dataset(hid_t file, const std::string& name) {
  if (H5Oexists_by_name(file, name.c_str(), H5P_DEFAULT) <= 0) return false;
  const Hid object(H5Oopen(file, name.c_str(), H5P_DEFAULT), H5Oclose);
  return object >= 0 && H5Iget_type(object) == H5I_DATASET;
}

/// Where a hard link leads: HDF5 1.10 says an address, later ones a token that begins with it.
haddr_t target_of(const H5L_info_t& link) {
  haddr_t target = 0;
  std::memcpy(&target, &link.u, sizeof target);
  return target;
}

/// The links of a group that lie in this file, each group once: groups may hold one another. Links
/// are walked because what HDF5 tells of an object differs between its versions 1.10 and 1.12; in
/// the file's own order, because HDF5 1.10 dies where it sorts the links of a damaged group.
class Walk {
 public:
  std::vector<std::string> names;

  void through(hid_t group, const std::string& prefix, int depth) {
    std::vector<std::pair<std::string, haddr_t>> links;
    const auto add = [](hid_t, const char* name, const H5L_info_t* link, void* data) -> herr_t {
      auto& found = *static_cast<decltype(links)*>(data);
      if (link->type == H5L_TYPE_HARD) found.emplace_back(name, target_of(*link));
      return 0;
    };
    check_hdf5(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &links),
               text("listing group \"/", prefix, '"'));
    for (const auto& [name, target] : links) {
      names.push_back(prefix + name);
      if (depth == max_depth || !seen_.insert(target).second) continue;
      const Hid below(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
      if (below >= 0 && H5Iget_type(below) == H5I_GROUP)
        through(below, prefix + name + '/', depth + 1);
    }
  }

 private:
  /// Deeper than any format puts its values; a file may nest thousands of groups.
  static constexpr int max_depth = 32;
  std::set<haddr_t> seen_;
};

/// Paths below `group`, relative to it, of what lies in this file.
std::vector<std::string> visited_names(hid_t file, const std::string& group) {
  const Hid opened = checked(H5Gopen2(file, group.c_str(), H5P_DEFAULT), H5Gclose,
                             text("listing group \"", group, '"'));
  Walk walk;
  walk.through(opened, "", 0);
  std::ranges::sort(walk.names);
  return std::move(walk.names);
}

std::vector<std::string> dataset_names(hid_t file) {
  std::vector<std::string> names = visited_names(file, "/");
  std::erase_if(names, [&](const std::string& name) { return !is_dataset(file, name); });
  return names;
}

}  // namespace

bool File::has(const std::string& name) const {
  const FileAtWork at_work(path());
  return H5Oexists_by_name(handle_->file, name.c_str(), H5P_DEFAULT) > 0;
}

bool File::has_dataset(const std::string& name) const {
  const FileAtWork at_work(path());
  return is_dataset(handle_->file, name);
}

std::vector<std::string> File::names(const std::string& group) const {
  return reading(path(), [&] { return visited_names(handle_->file, group); });
}

std::vector<std::string> File::members(const std::string& group) const {
  std::vector<std::string> names;
  if (!has(group)) return names;
  const FileAtWork at_work(path());
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
    static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  const Hid opened(H5Gopen2(handle_->file, group.c_str(), H5P_DEFAULT), H5Gclose);
  reading(path(), [&] {
    if (opened >= 0)
      check_hdf5(H5Literate(opened, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &names),
                 text("listing group \"", group, '"'));
  });
  std::ranges::sort(names);
  return names;
}

DatasetInfo File::info(const std::string& name) const {
  return reading(path(), [&] {
    if (!is_dataset(handle_->file, name)) {
      const std::string nowhere = link_to_nowhere(handle_->file, name);
      throw InputError(text('"', path(), "\" has no dataset \"", name, '"',
                            nowhere.empty() ? hint(name, dataset_names(handle_->file)) : nowhere));
    }
    const Hid dataset = open_dataset(handle_->file, name);
    const Hid type = checked(H5Dget_type(dataset), H5Tclose, "reading a dataset's type");
    DatasetInfo info;
    info.extents = extents_of(dataset);
    double n_values = 1;
    for (const std::int64_t n : info.extents) n_values *= static_cast<double>(n);
    if (n_values >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
      throw InputError(text("dataset \"", name, "\" of \"", path(), "\" is ",
                            slab_text(Extents(info.extents.size(), 0), info.extents),
                            ", more values than 64 bits can count"));
    info.type = element_type(type);
    info.element_bytes = static_cast<std::int64_t>(H5Tget_size(type));
    info.stored_bytes = static_cast<std::int64_t>(H5Dget_storage_size(dataset));
    describe_storage(dataset, path(), info);
    if (handle_->reachable.insert(name).second) check_reach(dataset, path(), handle_->links);
    return info;
  });
}

void check_holds_values(const std::string& path, const std::string& name, const DatasetInfo& info) {
  constexpr std::int64_t unasked_values = 1 << 24;
  constexpr double max_compression = 1e5;
  const std::int64_t n_values = n_elements(info.extents);
  const double bytes = static_cast<double>(n_values) * static_cast<double>(info.element_bytes);
  if (info.is_virtual || n_values <= unasked_values ||
      bytes <= max_compression * static_cast<double>(info.stored_bytes))
    return;
  throw InputError(text("dataset \"", name, "\" of \"", path, "\" is ",
                        slab_text(Extents(info.extents.size(), 0), info.extents), ", but holds ",
                        info.stored_bytes, " bytes of it; copy or write the file again"));
}

std::vector<double> File::read_doubles(const std::string& name) const {
  const DatasetInfo found = info(name);
  if (!is_real(found.type))
    throw InputError(text("dataset \"", name, "\" of \"", path(), "\" does not hold real numbers"));
  check_holds_values(path(), name, found);
  std::vector<double> values(static_cast<std::size_t>(n_elements(found.extents)));
  read_slab_alone(name, Extents(found.extents.size(), 0), found.extents, ElementType::f64,
                  values.data());
  return values;
}

Extents File::wave_extents(const std::string& name) const {
  const DatasetInfo found = info(name);
  const std::size_t n_axes = found.extents.size();
  if (n_axes < 2 || !(is_real(found.type) || is_complex(found.type)))
    throw InputError(text("dataset \"", name, "\" of \"", path(),
                          "\" is not a wave: it must be real or complex, (h, w) or (n, h, w)"));
  const std::int64_t n_values = n_elements(found.extents);
  const std::int64_t h = found.extents[n_axes - 2];
  const std::int64_t w = found.extents[n_axes - 1];
  const std::int64_t n_waves = n_values == 0 ? 0 : n_values / (h * w);
  if (std::max({h, w, n_waves}) > std::numeric_limits<int>::max())
    throw InputError(text("dataset \"", name, "\" of \"", path(), "\" is ", n_waves, " waves of ",
                          h, " x ", w, "; at most ", std::numeric_limits<int>::max(),
                          " each are possible"));
  check_holds_values(path(), name, found);
  return found.extents;
}

WaveStack File::read_waves(const std::string& name) const {
  const Extents extents = wave_extents(name);
  const auto h = static_cast<int>(extents[extents.size() - 2]);
  const auto w = static_cast<int>(extents.back());
  const std::int64_t n_values = n_elements(extents);
  WaveStack waves(n_values == 0 ? 0 : static_cast<int>(n_values / h / w), {h, w});
  if (is_complex(info(name).type)) {
    read_slab_alone(name, Extents(extents.size(), 0), extents, ElementType::complex128,
                    waves.data());
  } else {
    const std::vector<double> values = read_doubles(name);
    std::copy(values.begin(), values.end(), waves.begin());
  }
  return waves;
}

std::string File::read_text(const std::string& name) const {
  const DatasetInfo found = info(name);
  if (found.type != ElementType::text || n_elements(found.extents) != 1)
    throw InputError(text("dataset \"", name, "\" of \"", path(), "\" is not one text"));
  return reading(path(), [&] {
    const Hid dataset = open_dataset(handle_->file, name);
    const Hid type = checked(H5Dget_type(dataset), H5Tclose, "reading a dataset's type");
    const auto read = [&](hid_t as, void* buffer) {
      return H5Dread(dataset, as, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    };
    return read_hdf5_text(type, read, text("reading \"", name, '"'));
  });
}

void File::read_slab(const std::string& name, const Extents& begin, const Extents& count,
                     ElementType memory_type, void* values) const {
  const auto agreed = [&](const auto& read) { handle_->agreed([&] { reading(path(), read); }); };
  agreed([&] { check_slab(handle_->file, path(), name, begin, count); });
  agreed([&] {
    // Where HDF5 inflates collectively, a damaged chunk could leave other ranks inside the read.
    const bool together =
        handle_->comm && path().size() <= max_path_of_mpi_io && info(name).chunk.empty();
    const Hid transfer = transfer_mode(together);
    read_hyperslab(handle_->file, path(), name, begin, count, memory_type, values, transfer);
  });
}

void File::read_slab_alone(const std::string& name, const Extents& begin, const Extents& count,
                           ElementType memory_type, void* values) const {
  reading(path(), [&] {
    check_slab(handle_->file, path(), name, begin, count);
    read_hyperslab(handle_->file, path(), name, begin, count, memory_type, values, H5P_DEFAULT);
  });
}

namespace {

/// `read` gets the open attribute, its type, and words for what goes wrong. An attribute of more
/// than one value would be written past the end of what takes it.
/// @param is_right whether the attribute's class of types is the one that is asked for
template <class IsRight, class Read>
auto with_attribute(const File& of, hid_t file, const std::string& object, const std::string& name,
                    const char* wanted, const IsRight& is_right, const Read& read)
    -> std::optional<decltype(read(hid_t{}, hid_t{}, std::string()))> {
  const FileAtWork at_work(of.path());
  if (H5Aexists_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
  const std::string what = text("attribute \"", name, "\" of \"", object, '"');
  return reading(of.path(), [&] {
    const Hid attribute =
        checked(H5Aopen_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                H5Aclose, what);
    const Hid type = checked(H5Aget_type(attribute), H5Tclose, what);
    const Hid space = checked(H5Aget_space(attribute), H5Sclose, what);
    const hssize_t n_values = check_hdf5(H5Sget_simple_extent_npoints(space), what);
    if (n_values != 1 || !is_right(H5Tget_class(type)))
      throw InputError(text(what, " in \"", of.path(), "\" must be ", wanted, "; it holds ",
                            n_values, " value", n_values == 1 ? "" : "s",
                            is_right(H5Tget_class(type)) ? "" : " of another type"));
    return read(attribute, type, what);
  });
}

}  // namespace

std::optional<double> File::number_attribute(const std::string& object,
                                             const std::string& name) const {
  return with_attribute(
      *this, handle_->file, object, name, "one number",
      [](H5T_class_t kind) { return kind == H5T_INTEGER || kind == H5T_FLOAT; },
      [](hid_t attribute, hid_t, const std::string& what) {
        double value = 0;
        check_hdf5(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), what);
        return value;
      });
}

std::optional<double> File::positive_attribute(const std::string& object,
                                               const std::string& name) const {
  const std::optional<double> value = number_attribute(object, name);
  if (value && !(std::isfinite(*value) && *value > 0))
    throw InputError(text("attribute \"", name, "\" of \"", object, "\" in \"", path(), "\" is ",
                          *value, " but must be positive; repair or write the file again"));
  return value;
}

std::optional<std::string> File::text_attribute(const std::string& object,
                                                const std::string& name) const {
  return with_attribute(
      *this, handle_->file, object, name, "one text",
      [](H5T_class_t kind) { return kind == H5T_STRING; },
      [](hid_t attribute, hid_t type, const std::string& what) {
        return read_hdf5_text(
            type, [&](hid_t as, void* buffer) { return H5Aread(attribute, as, buffer); }, what);
      });
}

}  // namespace tessera::io
