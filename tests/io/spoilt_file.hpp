#pragma once
/// Spoils datasets of a file, by this rank alone.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::testing {

/// In place of the dataset, if there is one, one of one axis that holds `values`.
void replace_dataset(const std::string& path, const std::string& name,
                     const std::vector<double>& values);

/// The same, (row, column).
void replace_rows(const std::string& path, const std::string& name, std::int64_t n_columns,
                  const std::vector<double>& values);

/// A new dataset in chunks that promises 2^34 pairs of numbers and holds 64 of them.
void add_huge(const std::string& path, const std::string& name);

/// In place of the dataset, if there is one, one of (n_rows, n_columns) of which nothing is stored.
void replace_with_empty(const std::string& path, const std::string& name, std::int64_t n_rows,
                        std::int64_t n_columns);

/// Floating-point numbers become NaN by it.
void set_all_bits(const std::string& path, const std::string& name);

}  // namespace tessera::testing
