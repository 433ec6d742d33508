#include "halves.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "tessera/base/text.hpp"
#include "tessera/io/hdf5.hpp"
#include "tessera/io/save.hpp"

#include "analysis/compare.hpp"
#include "epochs.hpp"
#include "stop_rules.hpp"

namespace tessera::run {
namespace {

namespace fs = std::filesystem;

/// A file for the comparison alone, however that ends. All ranks have the same.
class PassingFile {
 public:
  PassingFile(std::string path, const comm::Communicator& comm)
      : path_(std::move(path)), is_root_(comm.is_root()) {}
  PassingFile(const PassingFile&) = delete;
  PassingFile& operator=(const PassingFile&) = delete;
  ~PassingFile() {
    std::error_code unknown;
    if (is_root_) fs::remove(path_, unknown);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_root_;
};

/// As many epochs as the whole scan had, whatever ended its solvers.
deck::Deck deck_of_half(const deck::Deck& deck, const std::vector<EpochFigures>& history, int half,
                        const std::string& file) {
  deck::Deck made = deck;
  made.run.resume.clear();
  made.validation = {
      .seed = deck.validation.seed, .every_epochs = std::numeric_limits<int>::max(), .half = half};
  made.stop = {};
  made.output = {};
  made.output.file = file;
  for (std::size_t stage = 0; stage < made.solvers.size(); ++stage)
    made.solvers[stage].epochs = std::max(1, epochs_in_stage(history, static_cast<int>(stage)));
  return made;
}

/// The half's status.
std::string reconstruct_half(const deck::Deck& deck, const comm::Communicator& comm,
                             Requests& requests) {
  auto run = std::make_unique<Run>(deck, comm, Log(false));
  Progress progress(comm.is_root(), deck, run->scan().n_fitted(),
                    text("half ", deck.validation.half, " of 2, "));
  std::string status;
  try {
    status = run_epochs(run, deck, comm, requests, progress);
  } catch (const AgreedError& error) {
    if (error.exit_code() != ExitCode::not_finite) throw;
    return error.what();
  }
  if (run->finished()) run->write_result(run->measure(), status);
  return status;
}

/// Where the deck itself makes the halves depend on one another.
std::string doubt_of(const deck::Deck& deck) {
  if (deck.object.initial != "file") return "";
  return "validation.halves: object.initial = \"file\" starts both halves with one object, so that "
         "they agree on what it holds";
}

}  // namespace

std::optional<Halves> reconstruct_halves(const deck::Deck& deck,
                                         const std::vector<EpochFigures>& history,
                                         const comm::Communicator& comm, Requests& requests) {
  const Log log(comm.is_root());
  if (const std::string doubt = doubt_of(deck); !doubt.empty()) log.warning(doubt);
  const PassingFile first(deck.output.file + ".half1", comm);
  const PassingFile second(deck.output.file + ".half2", comm);
  int half = 0;
  for (const PassingFile* file : {&first, &second}) {
    const deck::Deck of_half = deck_of_half(deck, history, ++half, file->path());
    const std::string status = reconstruct_half(of_half, comm, requests);
    if (status == status_text(StopRule::none, of_half.stop)) continue;
    log.warning(text("validation.halves: half ", half,
                     " ended early, so the halves are not "
                     "compared: ",
                     status));
    return {};
  }
  const analysis::Comparison found = analysis::compare_files(first.path(), second.path(), comm);
  return Halves{found.rings, found.one_bit_fraction, found.half_bit_fraction,
                found.pixel_m.value_or(0)};
}

void add_to_result(const Halves& halves, const deck::Deck& deck, const comm::Communicator& comm) {
  const std::string& path = deck.output.file;
  std::int64_t n_bytes = 1 << 20;
  comm.together([&] {
    if (comm.is_root()) n_bytes += static_cast<std::int64_t>(fs::file_size(path));
  });
  io::AtomicFile atomic(path, n_bytes, comm);
  comm.together([&] {
    if (!comm.is_root()) return;
    fs::copy_file(path, atomic.partial_path(), fs::copy_options::overwrite_existing);
    io::File file = io::File::open_to_add(atomic.partial_path());
    const auto write = [&](const std::string& name, const std::vector<double>& values) {
      file.write_doubles("halves/" + name, {std::ssize(values)}, values);
    };
    write("nyquist_fraction", halves.rings.nyquist_fraction);
    write("correlation", halves.rings.correlation);
    write("one_bit", halves.rings.one_bit);
    write("half_bit", halves.rings.half_bit);
    file.set_attribute("halves", "one_bit_nyquist_fraction", halves.one_bit_fraction);
    file.set_attribute("halves", "half_bit_nyquist_fraction", halves.half_bit_fraction);
    file.close();
  });
  io::commit_save(atomic, path, /*keeps_older=*/false, comm);
}

}  // namespace tessera::run
