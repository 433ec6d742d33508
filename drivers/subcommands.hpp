#pragma once
/// What the subcommands of `tessera` do, one file each. All are collective.

#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/comm/communicator.hpp"
#include "tessera/io/hdf5.hpp"

#include "deck/deck.hpp"

namespace tessera::run {
struct PlanRequest;
}

namespace tessera::drivers {

/// A deck, and key=value words that take precedence.
struct DeckWords {
  std::string path;
  std::vector<std::string> overrides;
};

/// @param summary a JSON file to write as well; empty: none
/// @param goes_on from the result of the same deck that lies at output.file, if there is one
ExitCode reconstruct(const DeckWords& words, const std::string& summary, bool goes_on,
                     const comm::Communicator& comm);
/// @param words the result that goes on, and key=value words
ExitCode resume(const DeckWords& words, const std::string& summary, const comm::Communicator& comm);
ExitCode plan(const DeckWords& words, const run::PlanRequest& wanted,
              const comm::Communicator& comm);
ExitCode simulate(const DeckWords& words, const comm::Communicator& comm);

/// A scan without a deck.
struct BareScan {
  std::string path;
  io::Links links = io::Links::beside;
};

/// @param deck to write; empty: named as the file, in the working folder
ExitCode init(const BareScan& scan, const std::string& deck, const comm::Communicator& comm);
/// @param file a scan or a result
/// @param out to write; its ending says what
ExitCode convert(const BareScan& file, const std::string& out, const comm::Communicator& comm);
/// @param pictures a folder to draw to; empty: none
ExitCode look(const BareScan& scan, const std::string& pictures, const comm::Communicator& comm);
struct InspectRequest {
  std::string pictures = {};   ///< a folder to draw to as well; empty: none
  std::string deep_zoom = {};  ///< a folder for tiles and their page; empty: none
  bool as_json = false;
  bool views = false;  ///< also draws on the terminal
};
ExitCode inspect(const std::string& file, const InspectRequest& wanted,
                 const comm::Communicator& comm);
ExitCode compare(const std::string& a, const std::string& b, bool as_json,
                 const comm::Communicator& comm);
/// @param results one or two
/// @param out the page to write
ExitCode report(const std::vector<std::string>& results, const std::string& out,
                const comm::Communicator& comm);
ExitCode methods(const comm::Communicator& comm);

/// Of all that a run writes but output.file. @throws InputError: over something that it reads
void check_written_beside(const deck::Deck& deck, const std::string& deck_path,
                          const std::string& summary);

/// Rank 0 reads the file; every rank parses the same text. Collective. @throws AgreedError
deck::Deck read_deck(const DeckWords& words, const comm::Communicator& comm);

}  // namespace tessera::drivers
