#pragma once
/// Which axes and signs of the positions agree with how shadows move in a far field out of focus.

#include <optional>
#include <vector>

#include "optics/feature_motion.hpp"
#include "shadow_motion.hpp"

namespace tessera::analysis {

struct TurnedShadows {
  ShadowMotion motion;  ///< of the positions as they are, detector pixels for object pixels
  optics::FeatureMotion shadows;  ///< of the positions turned so that both axes move alike
  bool agrees = true;             ///< the positions as they are do as well
};

/// The part of the detector that is looked at.
struct Cut {
  Vec2 centre_px;
  int n_pixels = 0;
};

/// Shadows are correlated (optics::shadow_motion) with the positions as they are and with x turned,
/// both at every angle; half a turn is the other sign of the defocus.
/// @param positions_px object pixels
/// @return nothing if no motion is clear, or none is clearer than the others
/// @throws InputError
std::optional<TurnedShadows> find_turned_shadows(io::ScanReader& reader, const Survey& survey,
                                                 const ImageStack<double>& trusted, const Cut& cut,
                                                 const std::vector<Vec2>& positions_px);

}  // namespace tessera::analysis
