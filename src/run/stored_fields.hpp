#pragma once
/// How the fields of a reconstruction lie in a result.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/io/hdf5.hpp"
#include "tessera/io/staged_file.hpp"

#include "run/scan.hpp"
#include "solvers/fields.hpp"

namespace tessera::run {

/// Of what is stored in the width in which it is computed: waves, and what lies on the object. All
/// else is stored as f64, which holds every Real.
io::ElementType stored_type(const solvers::Field& field);
/// Of the dataset: what lives with the object on its whole grid, with positions by scan position.
io::Extents stored_extents(const Scan& scan, const solvers::Field& field);

/// Of what lives on the object: what a copy takes here. 0: else.
std::int64_t copy_bytes(const Scan& scan, const solvers::Field& field);

std::int64_t n_elements(const io::Extents& extents);

/// Scan positions first, first + 1, ..., which are neighbours on this rank, too.
struct RowRange {
  int first = 0;
  int first_local = 0;
  int count = 0;
};
/// All of `positions` (ascending), in ranges of at most `max` rows.
std::vector<RowRange> row_ranges(const std::vector<int>& positions, int max);
/// Rows of `field` that are moved at a time.
int rows_at_a_time(const solvers::Field& field);

/// f(first row, rows) of pieces that hold `n` rows together and are small.
template <class F>
void for_each_piece(std::int64_t n, const F& f) {
  constexpr std::int64_t rows_of_piece = 1 << 18;
  for (std::int64_t first = 0; first < n; first += rows_of_piece)
    f(first, std::min(rows_of_piece, n - first));
}

/// Makes a dataset of the field's name, with a copy of its values; a large field's come later.
/// Collective.
void write_field(io::StagedFile& file, const Scan& scan, const solvers::Field& field,
                 const comm::Communicator& comm);
/// Each rank its own positions, a few at a time: no copy of them is kept. After the structure is
/// made. Collective. @throws AgreedError
void write_large_field(io::StagedFile& file, const Scan& scan, const solvers::Field& field,
                       const comm::Communicator& comm);

}  // namespace tessera::run
