#pragma once

namespace tessera::testing {

/// How often this program has called operator new.
int n_allocations();

}  // namespace tessera::testing
