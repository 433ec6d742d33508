#pragma once
#include "tessera/io/hdf5.hpp"
