#include "pattern_exchange.hpp"

#include "tessera/base/progress.hpp"

namespace tessera::io {
namespace {

using comm::check_mpi;

/// Owns one MPI datatype.
class MpiType {
 public:
  explicit MpiType(MPI_Datatype type) : type_(type) {}
  MpiType(const MpiType&) = delete;
  MpiType& operator=(const MpiType&) = delete;
  ~MpiType() { MPI_Type_free(&type_); }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

MPI_Datatype pattern_type(std::size_t pattern_bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(static_cast<int>(pattern_bytes), MPI_BYTE, &type));
  check_mpi(MPI_Type_commit(&type));
  return type;
}

/// Per peer, the patterns at `places`; no message where there are none.
class PeerTypes {
 public:
  PeerTypes(const std::vector<std::vector<int>>& places, MPI_Datatype pattern)
      : counts(places.size(), 0), offsets(places.size(), 0), types(places.size(), MPI_BYTE) {
    for (std::size_t peer = 0; peer < places.size(); ++peer) {
      if (places[peer].empty()) continue;
      check_mpi(MPI_Type_create_indexed_block(static_cast<int>(places[peer].size()), 1,
                                              places[peer].data(), pattern, &types[peer]));
      check_mpi(MPI_Type_commit(&types[peer]));
      counts[peer] = 1;
    }
  }
  PeerTypes(const PeerTypes&) = delete;
  PeerTypes& operator=(const PeerTypes&) = delete;
  ~PeerTypes() {
    for (std::size_t peer = 0; peer < types.size(); ++peer)
      if (counts[peer] > 0) MPI_Type_free(&types[peer]);
  }

  std::vector<int> counts;
  std::vector<int> offsets;
  std::vector<MPI_Datatype> types;
};

}  // namespace

void send_to_owners(const std::byte* from, std::byte* to, const PatternRoutes& routes,
                    std::size_t pattern_bytes, const comm::Communicator& comm) {
  const MpiType pattern(pattern_type(pattern_bytes));
  const PeerTypes send(routes.send, pattern.get());
  const PeerTypes receive(routes.receive, pattern.get());
  const Doing doing("sending patterns to their owners");
  check_mpi(MPI_Alltoallw(from, send.counts.data(), send.offsets.data(), send.types.data(), to,
                          receive.counts.data(), receive.offsets.data(), receive.types.data(),
                          comm.handle()));
}

}  // namespace tessera::io
