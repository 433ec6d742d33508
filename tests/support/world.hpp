#pragma once
/// The communicator of a test program, made by the test main.

#include "tessera/comm/communicator.hpp"

namespace tessera::testing {

const comm::Communicator& world();

}  // namespace tessera::testing
