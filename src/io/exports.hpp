#pragma once
/// Files of other programs: arrays by name as NumPy and MATLAB have them, images as TIFF.

#include <string>
#include <vector>

#include "tessera/base/image_stack.hpp"
#include "tessera/io/hdf5.hpp"

namespace tessera::io {

/// In C order; of complex numbers `imaginary` has as many values as `real`.
struct NamedArray {
  std::string name;
  Extents extents;  ///< empty: one number
  std::vector<double> real;
  std::vector<double> imaginary = {};  ///< empty: real numbers
};

NamedArray as_array(const std::string& name, const WaveStack& waves);

/// As numpy.savez writes them, complex128 and float64. @throws SystemError
void write_npz(const std::string& path, const std::vector<NamedArray>& arrays);

/// MATLAB 5: (n, y, x) here is (y, x, n) there. @throws SystemError, InputError beyond 2 GiB
void write_mat(const std::string& path, const std::vector<NamedArray>& arrays);

struct TiffPage {
  std::string description;
  ImageStack<float> image;  ///< (1, h, w)
};

/// 32-bit floats, a page for each image, with pixels per centimetre.
/// @throws SystemError, InputError beyond 4 GiB
void write_tiff(const std::string& path, const std::vector<TiffPage>& pages, double pixel_m);

}  // namespace tessera::io
