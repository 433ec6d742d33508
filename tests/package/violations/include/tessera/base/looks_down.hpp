#pragma once
#include "tessera/geometry/windows.hpp"
