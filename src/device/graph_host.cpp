// A host launches for nothing: there is never a reason to record.

#include "tessera/base/error.hpp"

#include "device/graph.hpp"

namespace tessera::device {

Graph::~Graph() = default;

Graph::Graph(Graph&&) noexcept {}

void Graph::record(const Device&, const std::function<void()>&) {
  throw SystemError("graphs of launches exist on GPUs only");
}

void Graph::launch(const Device&) const {
  throw SystemError("graphs of launches exist on GPUs only");
}

bool graphs_pay() {
  return false;
}

}  // namespace tessera::device
