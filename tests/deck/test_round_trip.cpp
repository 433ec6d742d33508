// A resolved deck, stored in a result, must start the same run again.
#include <algorithm>
#include <cmath>
#include <random>

#include <gmock/gmock.h>

#include "deck/keys.hpp"
#include "deck/methods.hpp"
#include "deck/sample_decks.hpp"

namespace tessera::deck {
namespace {

/// Sets fields to random values that are allowed.
class RandomValue {
 public:
  RandomValue(std::mt19937_64& bits, const Key& key) : bits_(bits), key_(key) {}

  void operator()(bool* field) { *field = uniform() < 0.5; }
  void operator()(int* field) { *field = static_cast<int>(in_range()); }
  void operator()(std::uint64_t* field) { *field = static_cast<std::uint64_t>(in_range()); }
  void operator()(double* field) { *field = in_range(); }
  void operator()(std::string* field) { *field = key_.choices.empty() ? any_text() : choice(); }
  template <class T>
  void operator()(std::optional<T>* field) {
    field->reset();
    if (uniform() < 0.5) (*this)(&field->emplace());
  }
  template <class T>
  void operator()(std::vector<T>* field) {
    field->clear();
    for (int i = 0; i < key_.length; ++i) (*this)(&field->emplace_back());
  }

 private:
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(bits_); }
  double in_range() { return *key_.min + uniform() * (*key_.max - *key_.min); }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(bits_() % n); }
  std::string choice() { return key_.choices[below(key_.choices.size())]; }
  std::string any_text() {
    const std::vector<std::string> letters = {"a", "/", "\"", "'", "\\", "\n", "\t", "=", "#", "é"};
    std::string word = "x";
    for (std::size_t n = below(8); n > 0; --n) word += letters[below(letters.size())];
    return word;
  }

  std::mt19937_64& bits_;
  const Key& key_;
};

void settle_constraints(Deck& deck) {
  Constraints& c = deck.constraints;
  std::ranges::sort(c.object_bounds.amplitude_range);
  std::vector<double>& phase_rad = c.object_bounds.phase_rad;
  phase_rad = {-0.1 - 0.2, std::abs(phase_rad[0])};
  if (deck.object.n_slices == 1) c.slice_coupling.onset.from_epoch = -1;
  if (deck.experiment.propagation != "far_field") c.probe_centring.onset.from_epoch = -1;
  if (c.probe_aperture.onset.ever()) c.phase_ramp.onset.from_epoch = -1;
  c.probe_mode_power.min_fraction /= 2 * deck.probe.n_modes;
}

void settle_files(Data& data) {
  if (data.valid_pixels) data.bad_pixels.reset();
  if (!data.valid_pixels && !data.bad_pixels) data.mask_file.clear();
  if (!data.background) data.background_file.clear();
  if (!data.positions) data.positions_file.clear();
  if (data.raw_type && !data.raw_shape.empty()) {
    data.format = "raw";
  } else {
    data.raw_type.reset();
    data.raw_shape.clear();
    data.raw_offset_bytes = data.raw_gap_bytes = 0;
  }
  if (data.zero_frequency == "corner") data.centre_px.clear();
}

/// Random values, then the fewest changes that take out contradictions.
Deck random_deck(std::mt19937_64& bits) {
  Deck deck;
  deck.solvers.clear();
  const std::vector<std::string> methods = method_names();
  for (std::size_t n = 1 + bits() % 3; n > 0; --n)
    deck.solvers.push_back(Solver::of(methods[bits() % methods.size()]));
  for (const Key& key : keys(deck))
    if (!key.name.ends_with(".method")) std::visit(RandomValue(bits, key), key.field);
  Experiment& experiment = deck.experiment;
  if (experiment.voltage_V) {
    experiment.energy_eV = {};
    experiment.distance_m = {};
    experiment.detector_pixel_m = {};
    experiment.source_distance_m = {};
    experiment.detector_pixel_rad = std::nextafter(1e-3, 1.0);
  } else {
    experiment.energy_eV = 8800.1;
    experiment.distance_m = 0.1 + 0.2;
    experiment.detector_pixel_m = 75e-6 / 7;
    experiment.detector_pixel_rad = {};
  }
  if (experiment.voltage_V) experiment.propagation = "far_field";
  if (experiment.propagation == "far_field")
    experiment.source_distance_m = {};
  else
    deck.data.zero_frequency = "centre";
  if (experiment.fly_sub_positions == 1) experiment.fly_travel_m = {};
  if (deck.object.n_slices == 1) experiment.beam_tilt_rad = {};
  if (deck.data.positions) {
    deck.data.raster_shape = {};
    deck.data.raster_step_m = {};
    deck.data.raster_rotation_rad = 0;
  }
  for (Solver& solver : deck.solvers) {
    if (solver.method == "epie") std::get<settings::Pie>(solver.own).alphas = {1, 1};
    if (solver.method == "mpie") std::get<settings::Pie>(solver.own).momentum = 0.375;
    solver.noise = "amplitude";
    if (solver.batch_size) solver.batch_coverage.reset();
  }
  if (experiment.propagation == "far_field") experiment.source_distance_m = {};
  if (!experiment.distance_m) experiment.propagation = "far_field";
  if (deck.object.n_slices == 1) {
    experiment.beam_tilt_rad = {};
    deck.refine.slices.thickness_from_epoch = deck.refine.slices.tilt_from_epoch = -1;
  } else {
    deck.refine.positions.method = "gradient";
  }
  if (!deck.refine.background.from_epoch) deck.refine.background.from_epoch = -1;
  if (!deck.probe.opr_trial.from_epoch) deck.probe.opr_trial.from_epoch = -1;
  if (!deck.constraints.probe_power.from_epoch) deck.constraints.probe_power.from_epoch = -1;
  if (deck.probe.initial == "zone_plate") deck.probe.central_stop_m = 0;
  if (deck.probe.initial == "file" || deck.probe.initial == "dataset")
    deck.probe.astigmatism_m = deck.probe.coma_m = deck.probe.spherical_m = 0;
  if (experiment.propagation != "far_field" && deck.object.initial == "centre_of_mass")
    deck.object.initial = "stxm";
  if (!deck.data.crop.empty()) {
    for (int& n : deck.data.crop) n = deck.data.bin * 5;
    deck.data.pad_to = {7, 5};
  }
  if (bits() % 2 == 0) deck.decomposition.tiles = {};
  if (settings::wants_own_gpu(deck.decomposition.transport)) deck.run.share_gpu = false;
  settle_constraints(deck);
  settle_files(deck.data);
  for (std::size_t stage = 0; stage < deck.solvers.size(); ++stage) {
    Solver& solver = deck.solvers[stage];
    if (!allows(solver.method, Option::batches)) {
      solver.batch_size = 0;
      solver.batch_coverage.reset();
    }
    if (!excluded_option(deck, stage).empty()) solver = Solver::of("rpie");
  }
  return deck;
}

void expect_equal(Deck a, Deck b) {
  ASSERT_EQ(a.solvers.size(), b.solvers.size());
  const std::vector<Key> keys_a = keys(a);
  const std::vector<Key> keys_b = keys(b);
  for (std::size_t i = 0; i < keys_a.size(); ++i) {
    std::visit(
        [&](auto* field) {
          EXPECT_EQ(*field, *std::get<decltype(field)>(keys_b[i].field)) << keys_a[i].name;
        },
        keys_a[i].field);
  }
}

TEST(ResolvedText, ReadsBackToTheSameDeck) {
  std::mt19937_64 bits(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Deck deck = random_deck(bits);
    const std::string resolved = resolved_text(deck);
    SCOPED_TRACE(resolved);
    ASSERT_NO_FATAL_FAILURE(expect_equal(deck, parsed(resolved)));
  }
}

TEST(ResolvedText, SaysAllThatIsUsed) {
  const std::string resolved = resolved_text(parsed(raster_deck, {"solver.method=epie"}));
  for (const std::string line :
       {"positions = \"\"\n", "tiles = \"auto\"\n", "object_alpha = 1.0\n", "epochs = 100\n",
        "energy_eV = 8800.0\n", "raster_step_m = [1e-6, 1e-6]\n", "subpixel = true\n",
        "detector_shape = [64, 64]\n", "[solver]\n"}) {
    EXPECT_THAT(resolved, testing::HasSubstr(line));
  }
  EXPECT_THAT(resolved, testing::Not(testing::HasSubstr("voltage_V")));
  EXPECT_THAT(resolved_text(parsed(xray_deck + "[[solver]]\n[[solver]]\nepochs = 7\n")),
              testing::HasSubstr("epochs = 100\n"));
}

/// As results of versions up to 0.1 hold it: every key of every method.
std::string solver_of_earlier_version(const std::string& method, int batch_size) {
  return xray_deck + "[solver]\nmethod = \"" + method +
         "\"\nepochs = 70\nbatch_size = " + std::to_string(batch_size) + R"(
batch_order = "compact"
seed = 7
object_step = 0.25
probe_step = 0.125
object_alpha = 1.0
probe_alpha = 1.0
momentum = 0.5
full_step_fraction = 0.33
final_step = 0.2
probe_start_epoch = 2
orthogonalise_every = 3
fourier_relaxation = 0.0625
overlap_rounds = 11
overlap_tolerance = 0.05
raar_beta = 0.875
lbfgs_history = 9
adam_beta1 = 0.75
adam_beta2 = 0.999
adam_epsilon = 0.001
noise = "amplitude"
)";
}

TEST(ResolvedText, OfEarlierVersionsIsReadForEveryMethod) {
  for (const std::string& method : method_names()) {
    SCOPED_TRACE(method);
    const int batch_size = allows(method, Option::batches) ? 16 : 0;
    const Deck deck = parsed(solver_of_earlier_version(method, batch_size));
    const Solver& solver = deck.solvers.at(0);
    EXPECT_EQ(solver.method, method);
    EXPECT_EQ(solver.epochs, 70);
    EXPECT_EQ(solver.batch_size, batch_size);
    EXPECT_EQ(solver.seed, 7u);
    EXPECT_EQ(solver.orthogonalise_every, 3);
    if (const auto* pie = std::get_if<settings::Pie>(&solver.own)) {
      EXPECT_EQ(pie->steps.object, 0.25);
      EXPECT_EQ(pie->momentum, method == "mpie" ? 0.5 : 0);
    }
    if (const auto* projection = std::get_if<settings::Projection>(&solver.own)) {
      EXPECT_EQ(projection->fourier_relaxation, 0.0625);
      EXPECT_EQ(projection->raar_beta, method == "raar" ? 0.875 : settings::Projection{}.raar_beta);
    }
    if (const auto* descent = std::get_if<settings::Descent>(&solver.own)) {
      EXPECT_EQ(descent->lbfgs_history, method == "lbfgs" ? 9 : 0);
    }
    if (const auto* adam = std::get_if<settings::Adam>(&solver.own)) {
      EXPECT_EQ(adam->beta1, 0.75);
    }
    EXPECT_THAT(parse_complaint(solver_of_earlier_version(method, batch_size) + "raar_bta = 1\n"),
                testing::HasSubstr("unknown key solver.raar_bta"));
  }
  EXPECT_THAT(parse_complaint(xray_deck + "[solver]\nmethod = \"dm\"\noverlap_rounds = 3\n"),
              testing::HasSubstr("unknown key solver.overlap_rounds"));
}

}  // namespace
}  // namespace tessera::deck
