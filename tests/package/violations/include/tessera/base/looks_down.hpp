#pragma once
#include "tessera/geometry/scan.hpp"
