#include <utility>
#include <vector>

#include "tessera/tessera.hpp"

#include "deck/check.hpp"
#include "deck/parse.hpp"
#include "run/resumed_deck.hpp"
#include "run/run.hpp"
#include "run/start_device.hpp"

namespace tessera {
namespace {

deck::Deck parsed(const std::string& toml, const comm::Communicator& ranks) {
  deck::Deck deck;
  ranks.together([&] {
    const std::vector<std::string> overrides{"data.file=memory"};  // a deck must name one
    deck = deck::parse(toml, "deck", overrides);
    deck::check_reconstruction(deck);
  });
  return deck;
}

io::ScanSource source_of(const deck::Deck& deck, io::MemoryScan scan) {
  io::ScanSource source = run::scan_source(deck);
  source.format = "memory";
  source.memory = std::make_shared<const io::MemoryScan>(std::move(scan));
  return source;
}

/// A box of every image of a device view, on the host.
WaveStack on_host(const device::DeviceView<device::complex***>& view, const Box& box) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  WaveStack waves(static_cast<int>(view.extent(0)), box.shape());
  for (int i = 0; i < waves.n(); ++i)
    for (int y = 0; y < waves.h(); ++y)
      for (int x = 0; x < waves.w(); ++x) {
        const device::complex value = host(i, box.begin.y + y, box.begin.x + x);
        waves(i, y, x) = {value.real(), value.imag()};
      }
  return waves;
}

}  // namespace

struct Session::Parts {
  Parts(int& argc, char**& argv)
      : environment(argc, argv), device(run::start_device(ranks, false)) {}
  comm::Environment environment;
  comm::Communicator ranks;
  std::unique_ptr<device::Runtime> device;
};

Session::Session(int& argc, char**& argv) : parts_(std::make_unique<Parts>(argc, argv)) {}
Session::~Session() = default;

const comm::Communicator& Session::ranks() const {
  return parts_->ranks;
}

struct Reconstruction::Parts {
  Parts(const comm::Communicator& ranks, const std::string& toml, io::MemoryScan scan)
      : deck(run::resumed_deck(parsed(toml, ranks), ranks, Log(ranks.is_root()))),
        run(std::make_unique<run::Run>(deck, ranks, source_of(deck, std::move(scan)),
                                       Log(ranks.is_root()))) {}
  deck::Deck deck;
  std::unique_ptr<run::Run> run;
};

Reconstruction::Reconstruction(const Session& session, const std::string& deck, io::MemoryScan scan)
    : parts_(std::make_unique<Parts>(session.ranks(), deck, std::move(scan))) {}
Reconstruction::~Reconstruction() = default;

double Reconstruction::run_epoch() {
  const double error = parts_->run->run_epoch().error;
  if (!finished() && parts_->run->needs_new_tiles())
    parts_->run = run::Run::on_new_tiles(std::move(parts_->run), Log(false));
  return error;
}

bool Reconstruction::finished() const {
  return parts_->run->finished();
}

double Reconstruction::error() {
  return parts_->run->measure().error;
}

Shape2 Reconstruction::object_shape() const {
  return parts_->run->scan().grid.object;
}

Box Reconstruction::owned() const {
  return parts_->run->scan().tile().owned;
}

WaveStack Reconstruction::object() const {
  const Pixel first = parts_->run->scan().tile().ghosted.begin;
  const Box owned = this->owned();
  return on_host(parts_->run->unknowns().object,
                 {{owned.begin.y - first.y, owned.begin.x - first.x},
                  {owned.end.y - first.y, owned.end.x - first.x}});
}

WaveStack Reconstruction::probe() const {
  const auto& probe = parts_->run->unknowns().probe;
  return on_host(probe, Box::at({0, 0}, parts_->run->scan().info.pattern));
}

void Reconstruction::write() {
  parts_->run->write_result(parts_->run->measure(), finished() ? "finished" : "running");
}

}  // namespace tessera
