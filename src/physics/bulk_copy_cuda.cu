#include <cudaTypedefs.h>

#include "bulk_copy_cuda.cuh"

namespace tessera::physics::hot_path {
namespace {

/// The driver's function, found at run time: programs need not be linked with the driver.
PFN_cuTensorMapEncodeTiled_v12000 tensor_map_encoder() {
  static const auto encoder = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess)
      throw std::runtime_error("hot_path: this driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(found);
  }();
  return encoder;
}

}  // namespace

CUtensorMap make_boxes(void* array, std::int64_t columns, std::int64_t rows, int box_columns,
                       int box_rows) {
  const cuuint64_t size[2] = {static_cast<cuuint64_t>(2 * columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t row_bytes[1] = {static_cast<cuuint64_t>(columns) * sizeof(float2)};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(2 * box_columns),
                             static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[2] = {1, 1};
  CUtensorMap map;
  const CUresult result =
      tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, array, size, row_bytes, box,
                           steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                           CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw std::runtime_error("hot_path: cuTensorMapEncodeTiled: error " + std::to_string(result));
  return map;
}

}  // namespace tessera::physics::hot_path
