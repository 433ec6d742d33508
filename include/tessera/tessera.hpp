#pragma once
/// The library's door: a scan in memory, reconstructed on the ranks of a job. The program `tessera`
/// does the same with files. All calls are collective; errors are thrown by all ranks alike
/// (tessera/base/error.hpp).

#include <memory>
#include <string>

#include "tessera/base/box.hpp"
#include "tessera/base/image_stack.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/io/memory_scan.hpp"

namespace tessera {

/// MPI and this rank's device, from here to the end of main. One in a program.
class Session {
 public:
  /// @throws AgreedError if a rank finds no GPU of its own in a build for GPUs
  Session(int& argc, char**& argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  const comm::Communicator& ranks() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

class Reconstruction {
 public:
  /// Cuts the tiles, brings every pattern to its rank, makes the start values.
  /// @param deck TOML with the keys of docs/deck.md; those that name datasets of the scan do not
  /// apply
  /// @throws AgreedError naming the key, or what is wrong with the patterns
  Reconstruction(const Session& session, const std::string& deck, io::MemoryScan scan);
  ~Reconstruction();
  Reconstruction(const Reconstruction&) = delete;
  Reconstruction& operator=(const Reconstruction&) = delete;

  /// One pass over all patterns. Returns the running error E. @throws AgreedError if something is
  /// no longer finite; the last good state is then back in place
  double run_epoch();
  /// All epochs of the deck are done.
  bool finished() const;
  /// The error E of the present object and probe.
  double error();

  /// Pixels of the whole object, and the box of them that this rank owns.
  Shape2 object_shape() const;
  Box owned() const;
  /// The owned box, (mode and slice, h, w).
  WaveStack object() const;
  /// (mode, h, w), the same on every rank.
  WaveStack probe() const;
  /// The result file of `tessera reconstruct`, at output.file. Positions that leave their tiles are
  /// met by way of it, too.
  void write();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tessera
