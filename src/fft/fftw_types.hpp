#pragma once
/// FFTW's names for float and double behind one spelling.

#include <complex>

#include <fftw3.h>

namespace tessera::fft {

template <class T>
struct Fftw;

template <>
struct Fftw<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  static constexpr auto plan_2d = fftwf_plan_dft_2d;
  static constexpr auto plan_many = fftwf_plan_many_dft;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto destroy = fftwf_destroy_plan;
  static constexpr auto allocate = fftwf_alloc_complex;
  static constexpr auto release = fftwf_free;
  static constexpr auto wisdom = fftwf_export_wisdom_to_string;
  static constexpr auto take_wisdom = fftwf_import_wisdom_from_string;
};

template <>
struct Fftw<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  static constexpr auto plan_2d = fftw_plan_dft_2d;
  static constexpr auto plan_many = fftw_plan_many_dft;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
  static constexpr auto allocate = fftw_alloc_complex;
  static constexpr auto release = fftw_free;
  static constexpr auto wisdom = fftw_export_wisdom_to_string;
  static constexpr auto take_wisdom = fftw_import_wisdom_from_string;
};

}  // namespace tessera::fft
