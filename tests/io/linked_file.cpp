#include "io/linked_file.hpp"

#include <hdf5.h>

namespace tessera::testing {

void add_link(const std::string& path, const std::string& name, const std::string& to_file,
              const std::string& to_name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  H5Lcreate_external(to_file.c_str(), to_name.c_str(), file, name.c_str(), links, H5P_DEFAULT);
  H5Pclose(links);
  H5Fclose(file);
}

void write_link(const std::string& path, const std::string& name, const std::string& to_file,
                const std::string& to_name) {
  H5Fclose(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  add_link(path, name, to_file, to_name);
}

}  // namespace tessera::testing
