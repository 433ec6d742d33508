#pragma once
/// What fuzz targets share: the bytes as a file, and what a reader may do with it.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tessera/comm/communicator.hpp"

namespace tessera::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// Of this process alone.
const comm::Communicator& world();

/// A file of these bytes, in memory, until the next one of this name. @return its path
std::string write(const std::string& name, Bytes bytes);

/// `work` may come to an end or refuse, as bad input and in words that hold `named`. Whatever else
/// it throws ends the process as a crash does.
void may_refuse(const std::string& named, const std::function<void()>& work);

}  // namespace tessera::fuzz
