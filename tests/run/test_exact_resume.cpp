// A run that was stopped, saved and resumed is the run that went on, for every method and model.

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/io/hdf5.hpp"

#include "deck/methods.hpp"
#include "run/run.hpp"
#include "simulation/simulation.hpp"
#include "support/deck_text.hpp"
#include "support/small_scan.hpp"

namespace tessera::run {
namespace {

using testing::world;
using Numbers = std::vector<double>;

constexpr int n_epochs = 6;
constexpr int n_before = 3;

/// The first `n` ranks of the world; the others are in a group of their own.
class FirstRanks {
 public:
  explicit FirstRanks(int n) : takes_part_(world().rank() < n), handle_(split(n)), comm_(handle_) {}
  ~FirstRanks() { MPI_Comm_free(&handle_); }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;

  /// work(communicator) on these ranks while the others wait.
  template <class Work>
  void run(const Work& work) const {
    if (takes_part_) work(comm_);
    world().barrier();
  }

 private:
  static MPI_Comm split(int n) {
    MPI_Comm made = MPI_COMM_NULL;
    comm::check_mpi(MPI_Comm_split(world().handle(), world().rank() < n ? 0 : 1, 0, &made));
    return made;
  }
  bool takes_part_;
  MPI_Comm handle_;
  comm::Communicator comm_;
};

/// As `reconstruct` does, to `last` epochs, and saved as deck.output.file. Collective.
void run_until(int last, const deck::Deck& deck, const comm::Communicator& comm,
               const Log& log = Log(false)) {
  auto run = std::make_unique<Run>(deck, comm, log);
  while (run->n_epochs() < last) {
    run->run_epoch();
    if (run->n_epochs() < last && run->needs_new_tiles())
      run = Run::on_new_tiles(std::move(run), Log(false));
  }
  run->write_result(run->measure(), "stopped");
}

/// Of any dataset of numbers; parts of complex ones one after another.
Numbers numbers_of(const io::File& file, const std::string& name) {
  if (!io::is_complex(file.info(name).type)) return file.read_doubles(name);
  const WaveStack waves = file.read_waves(name);
  const auto* parts = reinterpret_cast<const double*>(waves.data());
  return {parts, parts + 2 * waves.size()};
}

/// Datasets that say how the run goes on.
std::vector<std::string> names_of(const io::File& file) {
  std::vector<std::string> names{"object", "probe", "window_corner_px", "history/error",
                                 "history/r_factor"};
  for (const std::string group : {"parameters", "memory"})
    if (file.has(group))
      for (const std::string& name : file.names(group)) names.push_back(group + "/" + name);
  return names;
}

bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

double relative_difference(const Numbers& a, const Numbers& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

constexpr bool in_float = sizeof(Real) == 4;

/// On other ranks rounding is all that may differ, of which projections make much: how much depends
/// on the processor's transforms.
double tolerance(const std::string& method) {
  if (!in_float) return 1e-10;
  return method == "dm" ? 5e-3 : method == "raar" ? 1e-3 : 1e-4;
}

/// What a run has to go on with, as overrides of the small deck.
struct Model {
  const char* name;
  std::vector<std::string> overrides;
};

const std::vector<Model> models{
    {"plain", {}},
    {"three_modes", {"probe.n_modes=3"}},
    {"opr", {"probe.opr_modes=2", "simulation.probe_drift=0.3"}},
    {"positions",
     {"refine.positions_from_epoch=1", "simulation.position_error_px=1",
      "refine.positions_limit_px=3"}},
    {"correlated_positions",
     {"refine.positions_from_epoch=1", "refine.positions_method=cross_correlation",
      "simulation.position_error_px=1", "refine.positions_limit_px=3"}},
    {"two_slices", {"object.n_slices=2", "object.slice_thickness_m=20e-6"}},
    {"background", {"refine.background_from_epoch=1", "simulation.background_fraction=0.2"}},
    {"smoothed", {"constraints.object_smoothness_from_epoch=1"}},
};

void PrintTo(const Model& model, std::ostream* out) {
  *out << model.name;
}

class ExactResume : public ::testing::TestWithParam<std::tuple<Model, std::string>> {
 protected:
  ExactResume() : folder_(std::string("resume_") + std::get<0>(GetParam()).name) {}
  /// False where the deck does not allow the method this model.
  bool simulated() {
    std::vector<std::string> overrides = std::get<0>(GetParam()).overrides;
    const std::string& method = std::get<1>(GetParam());
    for (const char* more : {"run.deterministic=true", "output.save_memory=true",
                             "simulation.n_positions=49", "solver.epochs=6"})
      overrides.emplace_back(more);
    overrides.push_back("solver.method=" + method);
    if (!deck::allows(method, deck::Option::batches)) overrides.emplace_back("solver.batch_size=0");
    try {
      deck_ = testing::parsed(folder_.path(), overrides);
    } catch (const InputError& refused) {
      EXPECT_THAT(refused.what(), ::testing::HasSubstr(method + "\" does not go with"));
      return false;
    }
    simulation::simulate(deck_, world(), Log(false));
    return true;
  }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }
  deck::Deck writing(const char* name) const {
    deck::Deck deck = deck_;
    deck.output.file = path(name);
    return deck;
  }
  /// 6 epochs on `n` ranks; 3 on `n_first`, and from their result 3 more on `n`. Collective.
  void run_straight_and_resumed(int n_first, int n) {
    const FirstRanks ranks(n);
    ranks.run(
        [&](const comm::Communicator& comm) { run_until(n_epochs, writing("straight.h5"), comm); });
    FirstRanks(n_first).run(
        [&](const comm::Communicator& comm) { run_until(n_before, writing("half.h5"), comm); });
    ranks.run([&](const comm::Communicator& comm) {
      deck::Deck deck = writing("resumed.h5");
      deck.run.resume = path("half.h5");
      run_until(n_epochs, deck, comm);
    });
  }

  testing::SharedFolder folder_;
  deck::Deck deck_;
};

TEST_P(ExactResume, IsTheSameBitsOnAsManyRanks) {
  if (!simulated()) return;
  run_straight_and_resumed(world().size(), world().size());
  if (!world().is_root()) return;
  const io::File straight = io::File::open(path("straight.h5"));
  const io::File resumed = io::File::open(path("resumed.h5"));
  for (const std::string& name : names_of(straight))
    EXPECT_TRUE(same_bits(numbers_of(resumed, name), numbers_of(straight, name)))
        << name << " differs by "
        << relative_difference(numbers_of(resumed, name), numbers_of(straight, name));
}

/// From 1 to 4 ranks, and from 3 to 2.
TEST_P(ExactResume, IsTheSameOnOtherRanks) {
  if (world().size() < 3 || !simulated()) return;
  const bool grows = world().size() > 3;
  run_straight_and_resumed(grows ? 1 : 3, grows ? 4 : 2);
  if (!world().is_root()) return;
  const io::File straight = io::File::open(path("straight.h5"));
  const io::File resumed = io::File::open(path("resumed.h5"));
  for (const char* name : {"object", "probe", "window_corner_px", "history/error"})
    EXPECT_LE(relative_difference(numbers_of(resumed, name), numbers_of(straight, name)),
              tolerance(std::get<1>(GetParam())))
        << name;
}

INSTANTIATE_TEST_SUITE_P(Models, ExactResume,
                         ::testing::Combine(::testing::ValuesIn(models),
                                            ::testing::ValuesIn(deck::method_names())),
                         [](const auto& shown) {
                           return std::string(std::get<0>(shown.param).name) + "_" +
                                  std::get<1>(shown.param);
                         });

/// Positions drift through several cuts, with a velocity to keep.
TEST(Resume, KeepsItsTilesUntilNewOnesAreDue) {
  const testing::SharedFolder folder("resume_drifting");
  deck::Deck deck = testing::parsed(
      folder.path(), {"run.deterministic=true", "simulation.position_error_px=6",
                      "simulation.step_m=60e-9", "solver.method=lsqml", "solver.momentum=0.3",
                      "solver.epochs=8", "refine.positions_from_epoch=0", "refine.positions_step=4",
                      "refine.positions_limit_px=8", "refine.positions_margin_px=1"});
  simulation::simulate(deck, world(), Log(false));
  const std::string straight = (folder.path() / "straight.h5").string();
  deck.output.file = straight;
  run_until(8, deck, world());
  for (const int stopped_after : {1, 2, 3, 4, 5}) {
    deck.run.resume = "";
    deck.output.file = (folder.path() / "half.h5").string();
    run_until(stopped_after, deck, world());
    deck.run.resume = deck.output.file;
    deck.output.file = (folder.path() / "resumed.h5").string();
    run_until(8, deck, world());
    if (!world().is_root()) continue;
    const io::File expected = io::File::open(straight);
    const io::File resumed = io::File::open(deck.output.file);
    for (const std::string& name : names_of(expected))
      EXPECT_TRUE(same_bits(numbers_of(resumed, name), numbers_of(expected, name)))
          << name << ", stopped after " << stopped_after;
    EXPECT_TRUE(same_bits(numbers_of(resumed, "tiles/owned"), numbers_of(expected, "tiles/owned")));
  }
}

/// What a run of `second` says that goes on from one of `first`.
std::string said_after(const std::vector<std::string>& first,
                       const std::vector<std::string>& second) {
  const testing::SharedFolder folder("resume_said");
  const std::string half = (folder.path() / "half.h5").string();
  deck::Deck deck = testing::parsed(folder.path(), first);
  deck.output.file = half;
  simulation::simulate(deck, world(), Log(false));
  run_until(2, deck, world());
  deck = testing::parsed(folder.path(), second);
  deck.run.resume = half;
  ::testing::internal::CaptureStderr();
  run_until(3, deck, world(), Log(world().is_root()));
  return ::testing::internal::GetCapturedStderr();
}

TEST(Resume, SaysWhatStartsAnew) {
  using ::testing::HasSubstr;
  using ::testing::Not;
  const std::vector<std::string> adam{"solver.method=adam"};
  const std::vector<std::string> lbfgs{"solver.method=lbfgs", "solver.batch_size=0"};
  const std::vector<std::string> dm{"solver.method=dm", "solver.batch_size=0"};
  const auto expect_said = [](const std::string& said, const auto& matcher) {
    if (world().is_root()) {
      EXPECT_THAT(said, matcher);
    }
  };
  expect_said(said_after(adam, adam), Not(HasSubstr("anew")));
  expect_said(said_after(adam, lbfgs),
              HasSubstr("holds the memory of adam, and lbfgs starts anew"));
  expect_said(said_after(dm, dm), HasSubstr("holds no memory, and dm starts anew"));
  expect_said(said_after(dm, dm), HasSubstr("output.save_memory = true"));
  expect_said(said_after({"solver.method=rpie"}, {"solver.method=epie"}), Not(HasSubstr("anew")));
}

}  // namespace
}  // namespace tessera::run
