#pragma once
/// The result: one HDF5 file, written by all ranks, each what it owns, and read by any number of
/// them. docs/conventions.md says what is in it.

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

#include "io/background_save.hpp"
#include "run/history.hpp"
#include "run/rank_times.hpp"
#include "run/scan.hpp"
#include "solvers/fields.hpp"

namespace tessera::run {

class WorstPatterns;

struct ResultContents {
  const deck::Deck& deck;
  const Scan& scan;
  solvers::Fields state;   ///< names are those of the datasets
  solvers::Fields memory;  ///< of the solver at work, the same
  int stage = 0;           ///< which of the deck's solvers that is
  const std::vector<EpochFigures>& history;
  EpochFigures final_figures;
  std::string status;                    ///< "finished", or what ended the run
  bool is_last = true;                   ///< the run has nothing left to do
  RankTimes times;                       ///< of this rank, before this write
  const WorstPatterns* worst = nullptr;  ///< null: unknown
};

/// Where the windows of a resumed run were when its tiles were cut.
struct WindowsAtCut {
  std::string displacement;   ///< the dataset that says so; empty: where the scan has them
  bool same_windows = false;  ///< the file's windows are those of this scan, moved
};

/// Whose memory a result holds.
struct MemoryOwner {
  int stage = -1;  ///< -1: nobody's
  std::string method;
};

/// What a run has fitted besides object and probe and a deck has to ask for.
struct FittedValues {
  double max_displacement_px = 0;  ///< along an axis; 0: all positions are where the scan has them
  std::set<std::string> stored;    ///< those settings::StoredParameters that are not at rest
  int n_opr_modes = 0;
};

class ResultFile {
 public:
  static constexpr const char* displacement_name = "parameters/displacement_px";
  static constexpr const char* bad_patterns_name = "bad_patterns";

  /// About how long the file will be, the slack included.
  static std::int64_t bytes(const ResultContents& contents);
  /// To output.file, with a checksum. What is there stays until the new file is complete, and as
  /// the older one while the run has epochs left. Copies what it writes, but for large fields,
  /// which it writes at once: afterwards all may change. Collective.
  /// @param memory of the copies; must outlive what is returned
  /// @throws AgreedError
  static std::unique_ptr<io::BackgroundSave> begin_write(const ResultContents& contents,
                                                         const comm::Communicator& comm,
                                                         io::CopyMemory& memory);

  /// Opens what run.resume names. All calls are collective.
  /// @throws AgreedError
  ResultFile(const std::string& path, const comm::Communicator& comm);

  /// @throws AgreedError: more solvers than the deck has
  std::vector<EpochFigures> history(int n_stages) const;
  /// Where tiles lay otherwise, or are due: where the windows are now.
  WindowsAtCut windows_at_cut(const deck::Refine& refine, const geometry::WindowGrid& grid) const;
  /// Of all windows, moved by what the dataset `displacement` says, object pixels.
  std::vector<Pixel> moved_corners(const std::string& displacement, const deck::Refine& refine,
                                   const geometry::WindowGrid& grid) const;
  /// How far this rank's positions had moved, pixels.
  std::vector<Vec2> displacements(const std::string& displacement, const deck::Refine& refine,
                                  const Scan& scan) const;
  /// Scan positions whose patterns were left out because they contradict others, ascending. None
  /// of another number of positions.
  std::vector<int> bad_patterns(int n_positions) const;
  FittedValues fitted_values() const;
  /// Those that the file has become what they were.
  /// @throws AgreedError: another number of values
  void read(const Scan& scan, const solvers::Fields& fields) const;

  MemoryOwner memory_owner() const;
  /// Whether it has all `fields`, of these extents, on the object's grid of `scan`.
  bool holds(const Scan& scan, const solvers::Fields& fields) const;

 private:
  std::vector<double> numbers(const std::string& name, std::size_t n) const;
  void check_size(const std::string& name, std::size_t n) const;
  std::vector<Vec2> read_pairs_alone(const std::string& name, std::int64_t first,
                                     std::int64_t count, const deck::Refine& refine) const;
  bool same_grid(const geometry::WindowGrid& grid) const;
  void read_object(const Scan& scan, const solvers::Field& field) const;
  void read_waves_of_positions(const Scan& scan, const solvers::Field& field) const;
  void read_values(const Scan& scan, const solvers::Field& field) const;
  void check_corners(const Scan& scan, const std::string& name,
                     std::span<const double> corners) const;
  void read_images(const solvers::Field& field) const;

  const comm::Communicator& comm_;
  io::File file_;
};

}  // namespace tessera::run
