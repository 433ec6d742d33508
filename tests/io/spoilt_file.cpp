#include "io/spoilt_file.hpp"

#include <hdf5.h>

namespace tessera::testing {

namespace {

/// In place of the dataset, if there is one.
void replace(const std::string& path, const std::string& name, const std::vector<hsize_t>& extents,
             const double* values) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  if (H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0) H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const hid_t with_groups = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(with_groups, 1);
  const hid_t space = H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, with_groups,
                                   H5P_DEFAULT, H5P_DEFAULT);
  if (values) H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(with_groups);
  H5Fclose(file);
}

}  // namespace

void replace_dataset(const std::string& path, const std::string& name,
                     const std::vector<double>& values) {
  replace(path, name, {values.size()}, values.data());
}

void replace_rows(const std::string& path, const std::string& name, std::int64_t n_columns,
                  const std::vector<double>& values) {
  const auto columns = static_cast<hsize_t>(n_columns);
  replace(path, name, {values.size() / columns, columns}, values.data());
}

void replace_with_empty(const std::string& path, const std::string& name, std::int64_t n_rows,
                        std::int64_t n_columns) {
  replace(path, name, {static_cast<hsize_t>(n_rows), static_cast<hsize_t>(n_columns)}, nullptr);
}

void add_huge(const std::string& path, const std::string& name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hsize_t all[] = {hsize_t{1} << 34, 2};
  const hsize_t some[] = {64, 2};
  const hsize_t first[] = {0, 0};
  const hid_t in_chunks = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(in_chunks, 2, some);
  const hid_t space = H5Screate_simple(2, all, nullptr);
  const hid_t part = H5Screate_simple(2, some, nullptr);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first, nullptr, some, nullptr);
  const hid_t dataset =
      H5Dcreate2(file, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, in_chunks, H5P_DEFAULT);
  const std::vector<double> values(128, 1);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, part, space, H5P_DEFAULT, values.data());
  H5Dclose(dataset);
  H5Sclose(part);
  H5Sclose(space);
  H5Pclose(in_chunks);
  H5Fclose(file);
}

void set_all_bits(const std::string& path, const std::string& name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset);
  const hid_t space = H5Dget_space(dataset);
  const std::vector<char> bytes(
      static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type), '\xff');
  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
  H5Sclose(space);
  H5Tclose(type);
  H5Dclose(dataset);
  H5Fclose(file);
}

}  // namespace tessera::testing
