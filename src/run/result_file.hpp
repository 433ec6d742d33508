#pragma once
/// The result: one HDF5 file, written by all ranks, each its owned box.

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/run/scan.hpp"
#include "tessera/run/start.hpp"

namespace tessera::run {

struct ResultContents {
  const deck::Deck& deck;
  const Scan& scan;
  const solvers::Unknowns& unknowns;
  device::DeviceView<double* [2]> displacement;  ///< of this rank's positions; empty: none moved
  const std::vector<EpochFigures>& history;
  EpochFigures final_figures;
  std::string status;  ///< "finished", or what ended the run
};

/// About how long the file will be, the slack included.
std::int64_t result_bytes(const Scan& scan, const solvers::Unknowns& unknowns);

/// Collective. What is at output.file stays until the new file is complete. @throws AgreedError
void write_result_file(const ResultContents& contents, const comm::Communicator& comm);

}  // namespace tessera::run
