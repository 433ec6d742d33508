#pragma once
/// Copies of a simulated scan in which something is wrong.

#include <functional>
#include <string>
#include <vector>

#include "tessera/io/hdf5.hpp"

#include "support/world.hpp"

namespace tessera::testing {

/// At `to` the patterns and positions of the scan at `from`, with counts that `spoil` has changed,
/// and what `add` writes besides. Collective.
inline void write_spoilt_scan(const std::string& from, const std::string& to,
                              const std::function<void(std::vector<double>&)>& spoil,
                              const std::function<void(io::File&)>& add = {}) {
  world().together([&] {
    if (!world().is_root()) return;
    const io::File scan = io::File::open(from);
    std::vector<double> counts = scan.read_doubles("patterns");
    spoil(counts);
    io::File file = io::File::create(to);
    file.write_doubles("patterns", scan.info("patterns").extents, counts);
    file.write_doubles("positions_m", scan.info("positions_m").extents,
                       scan.read_doubles("positions_m"));
    if (add) add(file);
    file.close();
  });
}

}  // namespace tessera::testing
