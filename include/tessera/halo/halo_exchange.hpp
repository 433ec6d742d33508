#pragma once
/// Keeps the tiles of all ranks one object: owners' values to ghosts (fill), ghosts' sums to owners
/// (accumulate). The two are adjoint: <fill u, w> = <u, accumulate w>.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/decomposition/batch_halo.hpp"
#include "tessera/device/device.hpp"
#include "tessera/halo/tile_fields.hpp"
#include "tessera/halo/transport.hpp"

namespace tessera::halo {

/// Time and traffic of one rank, for the summary.
struct HaloStatistics {
  double seconds = 0;  ///< of the host in these calls; what a device does behind its back is not in
  std::int64_t bytes_sent = 0;
  std::int64_t messages_sent = 0;
};

inline HaloStatistics operator+(const HaloStatistics& a, const HaloStatistics& b) {
  return {a.seconds + b.seconds, a.bytes_sent + b.bytes_sent, a.messages_sent + b.messages_sent};
}

/// Which pixels an exchange carries: all ghosts, or what a batch reaches.
struct CarriedPixels {
  std::span<const decomposition::PeerMessages> peers;  ///< of the plan, in its order
  const decomposition::Piece* pieces = nullptr;        ///< of these, on the device
};

/// All calls are collective among peers: every rank makes the same calls in the same order, with
/// fields of the same planes and components and what both sides know to be carried. Several fields
/// travel in one message per peer; a rank without any pixel to send or receive does nothing and
/// waits for nobody. At most `max_fields` at a time.
class HaloExchange {
 public:
  static constexpr int max_fields = TileFields::max;

  /// @param max_reals_per_pixel sum over the fields of one call of n_planes * n_components, at most
  HaloExchange(decomposition::HaloPlan plan, int max_reals_per_pixel, Transport& transport);
  /// Of its buffers, device memory, where the transport needs any.
  static std::int64_t bytes(const decomposition::HaloPlan& plan, int max_reals_per_pixel);

  const decomposition::HaloPlan& plan() const { return plan_; }
  /// All ghosts. Valid as long as this object.
  CarriedPixels all() const { return {whole_.peers, whole_pieces_.data()}; }

  /// Owners' values replace the ghosts.
  void fill(const device::Device& exec, std::span<const TileField> fields) {
    fill(exec, fields, all());
  }
  void fill(const device::Device& exec, std::span<const TileField> fields,
            const CarriedPixels& carried);

  /// Ghost values on their way to their owners. Until `finish` only pixels owned here may be
  /// written, and no other exchange begun.
  class [[nodiscard]] Accumulation {
   public:
    Accumulation(const Accumulation&) = delete;
    Accumulation& operator=(const Accumulation&) = delete;
    /// Whether anything travels.
    bool is_under_way() const { return halo_.under_way_.n > 0; }
    /// To be called while this rank computes: lets the exchange go on, and does not wait.
    void progress() const { halo_.progress(); }
    /// Ghost values are added to their owners' in ascending peer order; ghosts keep what they hold.
    void finish(const device::Device& exec) const { halo_.finish_accumulate(exec); }

   private:
    friend class HaloExchange;
    explicit Accumulation(HaloExchange& halo) : halo_(halo) {}
    HaloExchange& halo_;
  };
  /// Without fields nothing travels.
  Accumulation begin_accumulate(const device::Device& exec, std::span<const TileField> fields) {
    return begin_accumulate(exec, fields, all());
  }
  Accumulation begin_accumulate(const device::Device& exec, std::span<const TileField> fields,
                                const CarriedPixels& carried);

  const HaloStatistics& statistics() const { return statistics_; }
  /// Exchanges are counted when they are launched; who records and replays them (device::Graph)
  /// puts the count right.
  void restore(const HaloStatistics& statistics) { statistics_ = statistics; }
  /// True if a device::Graph can record them.
  bool recordable() const { return plan_.peers.empty() || transport_.recordable(); }

 private:
  using Exchange = decomposition::PeerMessages::Exchange;
  void begin(const device::Device& exec, std::span<const TileField> fields,
             const CarriedPixels& carried, Exchange decomposition::PeerMessages::* exchange);
  template <class Move>
  void finish(const device::Device& exec, const char* label, const Move& move);
  void progress();
  void finish_accumulate(const device::Device& exec);

  decomposition::HaloPlan plan_;
  Transport& transport_;
  decomposition::HaloMessages whole_;
  device::DeviceView<decomposition::Piece*> whole_pieces_;
  std::vector<device::DeviceView<Real*>> send_;  ///< one for each peer, or none are needed
  std::vector<device::DeviceView<Real*>> receive_;
  std::vector<Message> messages_;
  std::vector<PixelMessage> pixel_messages_;
  TileFields under_way_;  ///< none: nothing is
  int max_reals_per_pixel_;
  HaloStatistics statistics_;
};

}  // namespace tessera::halo
