#include <utility>

#include "device/check_cuda.hpp"
#include "device/graph.hpp"

namespace tessera::device {

Graph::~Graph() {
  if (graph_) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}

Graph::Graph(Graph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}

void Graph::record(const Device& exec, const std::function<void()>& work) {
  check_cuda(cudaStreamBeginCapture(exec.cuda_stream(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t recorded = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(exec.cuda_stream(), &recorded);
    cudaGraphDestroy(recorded);
    throw;
  }
  check_cuda(cudaStreamEndCapture(exec.cuda_stream(), &recorded));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t code = cudaGraphInstantiate(&executable, recorded, 0);
  cudaGraphDestroy(recorded);
  check_cuda(code);
  graph_ = executable;
}

void Graph::launch(const Device& exec) const {
  check_cuda(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), exec.cuda_stream()));
}

bool graphs_pay() {
  return !Kokkos::Tools::profileLibraryLoaded();  // a tool wants to see every kernel, and may wait
}

}  // namespace tessera::device
