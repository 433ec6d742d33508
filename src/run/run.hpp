#pragma once
/// One reconstruction: set up from a deck, epoch by epoch to its end, result on disk.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/log.hpp"

#include "deck/deck.hpp"
#include "io/background_save.hpp"
#include "run/history.hpp"
#include "run/rank_times.hpp"
#include "run/scan.hpp"
#include "solvers/constraint_list.hpp"
#include "solvers/rank_setup.hpp"
#include "solvers/refinement.hpp"
#include "solvers/solver.hpp"

namespace tessera::run {

struct ResultContents;
class Figures;
class GoodState;
class RecordedBatches;
class ResultFile;
class PatternErrors;
class WorstPatterns;

/// What outlives a run, for another one of the same deck.
struct RunParts {
  Scan scan;
  std::unique_ptr<halo::Transport> transport;
};

/// All calls are collective.
class Run {
 public:
  /// Reads the scan, from where the deck has it or from `source`, settles with what its beam starts
  /// (`settle_beam`), and allocates everything that the epoch loop needs.
  /// @throws AgreedError
  Run(const deck::Deck& deck, const comm::Communicator& comm, const Log& log);
  Run(const deck::Deck& deck, const comm::Communicator& comm, const io::ScanSource& source,
      const Log& log);
  /// The same with a scan that was looked at.
  Run(const deck::Deck& deck, const comm::Communicator& comm, SeenScan seen, const Log& log);
  /// The same with a scan that is already here.
  /// @param transport empty: the one that the deck names
  Run(const deck::Deck& deck, const comm::Communicator& comm, Scan scan, const Log& log,
      std::unique_ptr<halo::Transport> transport = nullptr);
  /// Writes `run` to output.file and goes on from there (`SavedRun`).
  static std::unique_ptr<Run> on_new_tiles(std::unique_ptr<Run> run, const Log& log);
  /// Ends `run`.
  static RunParts take_apart(std::unique_ptr<Run> run);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run();

  /// One pass over all fitted positions by the solver whose turn it is, then a look at those held
  /// out when it is due. Allocates nothing after a solver's first.
  /// @throws AgreedError (exit code 3) naming what is no longer finite; the last good state is then
  /// back in place
  EpochFigures run_epoch();
  /// Epochs done, those of a resumed run included.
  int n_epochs() const { return static_cast<int>(history_.size()); }
  /// To the state of the solver at work that is best by the epochs before and after it, or to that
  /// of the one before if it has made none, and to the history up to there. Waits for the device.
  void go_back();
  /// All solvers have made their epochs or come to a plateau. Further epochs are of the last one.
  bool finished() const;
  /// After an epoch after which that is due: patterns that contradict those around them are fitted
  /// no more, and the solver at work begins anew. Returns their positions; none: all goes on.
  std::vector<int> leave_out_bad_patterns();
  /// After an epoch: the solver at work begins anew with the noise that `noise_after` gives, if
  /// that is another. Returns it then.
  std::optional<physics::Noise> adapt_noise();
  /// After an epoch: positions have used up half of refine.positions.margin_px. The same on all
  /// ranks. Waits for the device.
  bool needs_new_tiles() const;
  /// Refinement::put_back.
  void put_fitted_back() { refinement_->put_back(exec_); }
  const std::vector<EpochFigures>& history() const { return history_; }

  /// Figures of merit of the present object and probe; those of the held-out positions, too.
  EpochFigures measure();
  /// Write object, probe, positions, history and, of a state that was measured, the patterns that
  /// it explains worst, or leave what is at output.file as it is.
  void write_result(const EpochFigures& final_figures, const std::string& status);
  /// The same of this moment, with the figures of the last epoch and status "running", written
  /// while epochs go on. Waits for the one before. A save that fails is a warning: the one before
  /// stays.
  void begin_save(const Log& log);
  /// Seconds that a save took if one has come to its end, well or not. All ranks alike.
  std::optional<double> take_ended_save(const Log& log);
  /// The results that follow go to output.fallback, which is output.file from here on.
  void fall_back();
  std::int64_t result_bytes() const;
  /// @throws AgreedError unless the result can be written where output.file says
  void check_output() const;

  const deck::Deck& deck() const { return deck_; }
  const Scan& scan() const { return scan_; }
  const solvers::Unknowns& unknowns() const { return unknowns_; }
  const physics::ForwardModel& model() const { return rank_.model; }
  RankTimes times() const;
  std::string_view transport() const { return rank_.transport->name(); }

 private:
  friend class SavedRun;
  Run(const deck::Deck& deck, const comm::Communicator& comm, RunParts parts, const Log& log);
  /// @param from `deck`, or how it goes on from a result
  Run(const deck::Deck& deck, const deck::Deck& from, const comm::Communicator& comm, Scan scan,
      const Log& log, std::unique_ptr<halo::Transport> transport);
  /// All that is reconstructed.
  solvers::Fields state() const;
  /// What the solver at work remembers of it.
  solvers::Fields memory() const;
  /// The solver goes on with what it remembered, if that was saved.
  void recall(const ResultFile& result, const Log& log);
  /// What a file gave is finite. Collective. @throws AgreedError
  void check_start(const deck::Deck& from) const;
  void prepare_copies();
  void finish_save(const Log& log);
  ResultContents contents(const EpochFigures& final_figures, const std::string& status) const;
  /// Sweep and solver for `stage` take the place of those before.
  void start_stage(int stage);
  int n_recordable() const;
  /// The batches of `epoch`, with their patterns on the way.
  std::span<const solvers::Batch> start_pass(int epoch);
  /// These positions of this rank as a batch, the same way.
  std::span<const solvers::Batch> start_pass_over(std::span<const int> positions);
  void run_batch(const solvers::Batch& batch, int epoch);
  /// Of the epoch that has ended. @throws AgreedError as run_epoch
  physics::FigureSums take_sums();
  /// Of the present state and the one before it. @param cost of the epoch between them
  void keep_best(double cost);
  double measure_held_out();
  /// Figures of the present state; `look` sees each chunk when it has been compared, and its
  /// positions on this rank.
  physics::FigureSums measure_each(
      std::span<const solvers::Batch> batches,
      const std::function<void(const physics::Chunk&, std::span<const int>)>& look);
  /// Of their patterns, in the present state.
  void look_at_errors(std::span<const solvers::Batch> batches);
  /// Every so many epochs that fit free positions.
  bool looks_for_lost_positions() const;
  /// Those that were led astray start anew. Collective.
  void find_lost_positions();

  deck::Deck deck_;  ///< its own: a caller's may be gone before the last epoch
  const comm::Communicator& comm_;
  device::Device exec_;
  Scan scan_;
  solvers::Unknowns unknowns_;
  std::vector<EpochFigures> history_;
  solvers::RankSetup rank_;
  int stage_ = -1;  ///< which solver is at work
  std::unique_ptr<solvers::Sweep> sweep_;
  std::unique_ptr<solvers::Solver> solver_;
  std::unique_ptr<solvers::Refinement> refinement_;
  std::unique_ptr<solvers::ConstraintList> constraints_;
  std::unique_ptr<Figures> figures_;
  std::unique_ptr<PatternErrors> errors_;
  std::unique_ptr<WorstPatterns> worst_;  ///< of the present state, once that is measured
  std::unique_ptr<GoodState> good_;
  double last_cost_ = 0;                       ///< of the solver's last epoch; 0: it has made none
  std::unique_ptr<RecordedBatches> recorded_;  ///< of this stage
  double epoch_seconds_ = 0;
  double past_reduce_seconds_ = 0;            ///< of the solvers that have ended
  double write_seconds_ = 0;                  ///< that the epochs stood still for
  io::CopyMemory copies_;                     ///< that saves make
  std::unique_ptr<io::BackgroundSave> save_;  ///< under way
  RankTimes earlier_;                         ///< on other tiles
};

/// A run that was written to its deck's output.file, and ends here, before the memory of the next
/// is taken.
class SavedRun {
 public:
  explicit SavedRun(std::unique_ptr<Run> run);
  /// It goes on, by its own deck or by one that keeps more, on tiles cut around where positions are
  /// now: each may find itself on another rank. The solver goes on with what it remembers.
  /// Collective. @throws AgreedError
  std::unique_ptr<Run> go_on(const deck::Deck& deck) const;

 private:
  const comm::Communicator& comm_;
  io::ScanSource source_;
  RankTimes times_;
};

/// What the command line says besides the deck.
struct Launch {
  std::string summary_path = {};  ///< JSON summary; empty: none
  /// From a result of the same deck at output.file; with epochs made and more left: exit code 75.
  bool goes_on = false;
};

/// What `tessera reconstruct` does: all epochs with progress, pictures, summary.
ExitCode reconstruct(const deck::Deck& deck, const comm::Communicator& comm, const Launch& launch);

}  // namespace tessera::run
