#include "scan_rows.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::run {
namespace {

struct Rows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};

/// Who reads and writes which rows in which round.
class RowShares {
 public:
  RowShares(std::int64_t n_rows, std::int64_t columns, int n_ranks)
      : n_rows_(n_rows), n_ranks_(n_ranks) {
    constexpr std::int64_t round_bytes = 16 << 20;
    per_round_ = std::max<std::int64_t>(1, round_bytes / (8 * (columns + 1)));
  }
  int n_rounds() const {
    const std::int64_t largest_share = (n_rows_ + n_ranks_ - 1) / n_ranks_;
    return static_cast<int>((largest_share + per_round_ - 1) / per_round_);
  }
  Rows of(int rank, int round) const {
    const std::int64_t end = n_rows_ * (rank + 1) / n_ranks_;
    const std::int64_t begin = std::min(end, n_rows_ * rank / n_ranks_ + round * per_round_);
    return {begin, std::min(end, begin + per_round_)};
  }

 private:
  std::int64_t n_rows_;
  int n_ranks_;
  std::int64_t per_round_ = 1;
};

std::int64_t values_in_row(const io::Extents& extents) {
  return std::accumulate(extents.begin() + 1, extents.end(), std::int64_t{1}, std::multiplies<>());
}

/// Of a dataset: where its rows begin, and how many values they are.
std::pair<io::Extents, io::Extents> slab(io::Extents extents, const Rows& rows) {
  io::Extents begin(extents.size(), 0);
  begin[0] = rows.count() == 0 ? 0 : rows.begin;
  extents[0] = rows.count();
  return {begin, extents};
}

/// A row travels behind its number, which a double holds exactly.
void append_row(std::vector<double>& to, std::int64_t number, std::span<const double> row) {
  to.push_back(static_cast<double>(number));
  to.insert(to.end(), row.begin(), row.end());
}

/// f(number, row) of each that has come.
template <class F>
void for_each_row(std::span<const double> come, std::int64_t columns, const F& f) {
  const auto stride = static_cast<std::size_t>(columns + 1);
  for (std::size_t at = 0; at < come.size(); at += stride)
    f(static_cast<std::int64_t>(come[at]), come.subspan(at + 1, stride - 1));
}

std::span<const double> row_of(std::span<const double> values, std::int64_t row,
                               std::int64_t columns) {
  return values.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

void put_row(std::vector<double>& values, std::int64_t row, std::span<const double> of) {
  std::ranges::copy(of, values.begin() + row * std::ssize(of));
}

}  // namespace

void write_rows(io::StagedFile& file, const std::string& name, const io::Extents& extents,
                const Scan& scan, std::span<const double> local, const comm::Communicator& comm) {
  const std::int64_t columns = values_in_row(extents);
  const std::vector<int>& positions = scan.tile().positions;
  const RowShares shares(extents[0], columns, comm.size());
  file.create_dataset(name, extents, io::ElementType::f64);
  for (int round = 0; round < shares.n_rounds(); ++round) {
    std::vector<std::vector<double>> to(static_cast<std::size_t>(comm.size()));
    for (int rank = 0; rank < comm.size(); ++rank) {
      const Rows rows = shares.of(rank, round);
      auto next = std::ranges::lower_bound(positions, rows.begin);
      for (; next != positions.end() && *next < rows.end; ++next)
        append_row(to[static_cast<std::size_t>(rank)], *next,
                   row_of(local, next - positions.begin(), columns));
    }
    const Rows mine = shares.of(comm.rank(), round);
    std::vector<double> values(static_cast<std::size_t>(mine.count() * columns));
    const std::vector<double> come = comm.exchange(to);
    for_each_row(come, columns, [&](std::int64_t number, std::span<const double> row) {
      put_row(values, number - mine.begin, row);
    });
    const auto [begin, count] = slab(extents, mine);
    file.write_slab(name, begin, count, values.data());
  }
}

std::vector<double> read_rows(const io::File& file, const std::string& name, std::int64_t columns,
                              const Scan& scan, const comm::Communicator& comm) {
  io::Extents extents;
  comm.together([&] {
    extents = file.info(name).extents;
    if (extents.empty() || extents[0] != scan.n_positions() || values_in_row(extents) != columns)
      throw InputError(text('\'', name, "' in '", file.path(), "' does not hold ", columns,
                            " values for each of ", scan.n_positions(),
                            " positions as this run does; resume with the deck of that run"));
  });
  const std::vector<int>& positions = scan.tile().positions;
  const RowShares shares(extents[0], columns, comm.size());
  std::vector<double> local(positions.size() * static_cast<std::size_t>(columns));
  for (int round = 0; round < shares.n_rounds(); ++round) {
    const Rows mine = shares.of(comm.rank(), round);
    std::vector<double> values(static_cast<std::size_t>(mine.count() * columns));
    const auto [begin, count] = slab(extents, mine);
    file.read_slab(name, begin, count, io::ElementType::f64, values.data());
    std::vector<std::vector<double>> to(static_cast<std::size_t>(comm.size()));
    for (std::int64_t row = mine.begin; row < mine.end; ++row) {
      const Pixel corner = scan.corner()[static_cast<std::size_t>(row)];
      const int owner = scan.tiling.tile_of(static_cast<int>(row), corner);
      append_row(to[static_cast<std::size_t>(owner)], row,
                 row_of(values, row - mine.begin, columns));
    }
    const std::vector<double> come = comm.exchange(to);
    for_each_row(come, columns, [&](std::int64_t number, std::span<const double> row) {
      put_row(local, std::ranges::lower_bound(positions, number) - positions.begin(), row);
    });
  }
  return local;
}

std::vector<double> rows_of_all(const Scan& scan, const std::vector<double>& local,
                                const comm::Communicator& comm) {
  const std::vector<int> positions = comm.all_gather(std::span<const int>(scan.tile().positions));
  const std::vector<double> rows = comm.all_gather(std::span<const double>(local));
  const auto columns = static_cast<std::ptrdiff_t>(rows.size() / positions.size());
  std::vector<double> all(static_cast<std::size_t>(scan.n_positions() * columns));
  for (std::size_t i = 0; i < positions.size(); ++i)
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(i) * columns, columns,
                all.begin() + positions[i] * columns);
  return all;
}

std::vector<Vec2> subpixel_of_all(const Scan& scan, const comm::Communicator& comm) {
  std::vector<double> local;
  for (const Vec2& part : scan.subpixel) local.insert(local.end(), {part.y, part.x});
  const std::vector<double> all = rows_of_all(scan, local, comm);
  std::vector<Vec2> parts;
  for (std::size_t i = 0; i < all.size(); i += 2) parts.push_back({all[i], all[i + 1]});
  return parts;
}

}  // namespace tessera::run
