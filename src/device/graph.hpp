#pragma once
/// Work that was launched once, kept to be launched again in one call: small batches cost more to
/// launch than to compute.

#include <functional>

#include "tessera/device/device.hpp"

namespace tessera::device {

/// A recorded sequence of kernels, copies and transfers with the arguments that they were launched
/// with. What they read through pointers is what lies there when the graph runs.
class Graph {
 public:
  Graph() = default;
  ~Graph();  // NOLINT(performance-trivially-destructible): only on hosts
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph(Graph&& other) noexcept;

  bool recorded() const { return graph_ != nullptr; }
  /// Record what `work` launches on `exec` instead of running it. It must neither allocate nor wait
  /// for the device.
  /// @throws SystemError if it does
  void record(const Device& exec, const std::function<void()>& work);
  /// Run what was recorded, behind what `exec` holds.
  void launch(const Device& exec) const;

 private:
  void* graph_ = nullptr;
};

/// False where launching costs nothing that a graph could save, and while a profiling tool listens.
/// Ask before every batch.
bool graphs_pay();

}  // namespace tessera::device
