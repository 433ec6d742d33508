#pragma once
/// The steps of `tessera init`: each looks at one thing and adds to the deck what follows from it.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deck_draft.hpp"
#include "io/scan_format.hpp"
#include "survey.hpp"

namespace tessera::analysis {

/// What init has seen of a scan.
struct Sight {
  io::ScanSource source;
  io::ScanDescription said;
  std::string deck_path;
  io::RecordedPatterns patterns;
  Survey survey;
  ImageStack<double> trusted;  ///< (1, h, w); empty: no mask, or one for each pattern
  double untrusted_share = -1;
  BeamOnDetector beam;
  bool in_near_field = false;
  std::optional<double> magnification;     ///< of the near field, from how its images move
  std::optional<double> positions_unit_m;  ///< likewise
  std::vector<int> raster;  ///< (rows, columns) of a scan without positions, if known
  /// By which images of a defocused disc's parts are shifted; signed as defocus. Nothing: in focus,
  /// or not found.
  std::optional<double> raster_steps_per_px;
  int n_pixels = 0;  ///< of a row of what is reconstructed from
  std::vector<std::pair<std::string, std::string>> seen;  ///< rows of the report
  std::vector<std::string> warnings;
};

/// As printf has it.
std::string number_words(const char* format, double value);

/// Electrons, as far as the deck says yet.
bool has_electrons(const Sight& sight, const DeckDraft& deck);

/// Metres in which steps of the positions are a part of the window; 1 if they are, or if nothing
/// fits.
double positions_unit(const std::vector<Vec2>& positions, std::optional<double> window_m);

/// As far as the deck knows it.
std::optional<double> wavelength_m(const DeckDraft& deck);

void look_at_mask(const io::ScanReader& reader, Sight& sight, DeckDraft& deck);
void look_at_beam(Sight& sight, DeckDraft& deck);
/// How images of the near field, or out of focus, move with the scan.
void look_at_shadows(io::ScanReader& reader, Sight& sight, DeckDraft& deck);
/// Cuts far-field patterns about the beam.
void centre_beam(Sight& sight, DeckDraft& deck);
/// Signs and axes of the positions of a far field whose images do not move as a whole, out of focus
/// all the same.
void turn_far_field(io::ScanReader& reader, Sight& sight, DeckDraft& deck);
/// A raster's rows and columns, and how it lies on the detector; the file must have been surveyed.
void look_at_raster(io::ScanReader& reader, Sight& sight, DeckDraft& deck);
/// What a raster needs besides.
void ask_for_raster(DeckDraft& deck);
void look_at_positions(const io::ScanReader& reader, Sight& sight, DeckDraft& deck);
void ask_for_experiment(Sight& sight, DeckDraft& deck);
void choose_probe(const Sight& sight, DeckDraft& deck);

}  // namespace tessera::analysis
