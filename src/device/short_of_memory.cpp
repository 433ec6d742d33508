#include <array>
#include <string_view>

#include "tessera/base/text.hpp"
#include "tessera/device/runtime.hpp"

namespace tessera::device {
namespace {

/// What stands between `before` and `after`.
struct Gap {
  std::string_view before;
  std::string_view after;
};

struct Wording {
  std::string_view beginning;
  Gap size;
  Gap space;
  Gap label;
};

/// Of Kokkos 3 and early 4, and of later ones.
constexpr std::array<Wording, 2> wordings{{
    {"Kokkos failed to allocate memory for label ",
     {"Allocation of size ", " failed"},
     {"MemorySpace named \"", "\""},
     {"memory for label \"", "\""}},
    {"Kokkos ERROR: ",
     {"failed to allocate ", " (label="},
     {"Kokkos ERROR: ", " memory space"},
     {"(label=\"", "\""}},
}};

std::string find(const std::string& message, const Gap& gap) {
  const std::size_t found = message.find(gap.before);
  if (found == std::string::npos) return {};
  const std::size_t begin = found + gap.before.size();
  const std::size_t end = message.find(gap.after, begin);
  return end == std::string::npos ? std::string() : message.substr(begin, end - begin);
}

}  // namespace

std::string short_of_memory(const std::string& message) {
  for (const Wording& wording : wordings) {
    const std::size_t begin = message.find(wording.beginning);
    const std::string size = find(message, wording.size);
    if (begin == std::string::npos || size.empty()) continue;
    return text(message.substr(0, begin), "could not allocate ", size, " of ",
                find(message, wording.space), " memory for \"", find(message, wording.label),
                "\"; use more ranks, or fewer probe.n_modes or a smaller solver.batch_size");
  }
  constexpr std::string_view of_library = "std::bad_alloc";
  if (const std::size_t begin = message.find(of_library); begin != std::string::npos)
    return message.substr(0, begin) +
           "could not allocate host memory; use more ranks, or smaller windows (data.crop, "
           "data.bin, data.pad_to) or fewer probe.n_modes";
  return message;
}

}  // namespace tessera::device
