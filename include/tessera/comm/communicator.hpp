#pragma once
/// MPI: life cycle, checked calls, and the few collectives that Tessera needs.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <mpi.h>

namespace tessera::comm {

/// @throws SystemError with MPI's own text and the place of the call
void check_mpi(int code, std::source_location where = std::source_location::current());

/// Name and version of the MPI library.
std::string library_version();

/// MPI_Init_thread to MPI_Finalize. One in a program, in main.
class Environment {
 public:
  Environment(int& argc, char**& argv);
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// A duplicate of an MPI communicator with MPI_ERRORS_RETURN: freed with the object.
class Communicator {
 public:
  explicit Communicator(MPI_Comm parent = MPI_COMM_WORLD);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// End the whole job, at once.
  [[noreturn]] void abort(int exit_code) const;
  bool is_root() const { return rank_ == 0; }
  MPI_Comm handle() const { return comm_; }

  // All below are collective.
  /// Rank among the ranks of this host.
  int local_rank() const;
  void barrier() const;
  void sum(std::span<double> values) const;
  void sum(std::span<float> values) const;
  void sum(std::span<std::int64_t> values) const;
  void minimum(std::span<double> values) const;
  void maximum(std::span<double> values) const;
  bool any(bool here) const;
  /// From rank 0 to all; `text` is resized.
  void broadcast(std::string& text) const;
  template <class T>
  void broadcast(std::span<T> values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_bytes(values.data(), static_cast<std::int64_t>(values.size_bytes()));
  }
  /// Everybody's values, in rank order.
  template <class T>
  std::vector<T> all_gather(std::span<const T> values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::vector<std::byte> bytes = all_gather_bytes(std::as_bytes(values));
    std::vector<T> all(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }
  std::vector<std::string> all_gather(const std::string& text) const;
  /// `to[rank]` goes to that rank; what has come, in the order of the ranks. Collective.
  template <class T>
  std::vector<T> exchange(const std::vector<std::vector<T>>& to) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::span<const std::byte>> parts;
    parts.reserve(to.size());
    for (const std::vector<T>& values : to) parts.push_back(std::as_bytes(std::span(values)));
    const std::vector<std::byte> bytes = exchange_bytes(parts);
    std::vector<T> come(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(come.data(), bytes.data(), bytes.size());
    return come;
  }

  /// Run `work`, which may throw on some ranks only and must not communicate unless every rank
  /// reaches the same calls. If it threw anywhere, every rank throws AgreedError with the message
  /// of the lowest such rank; errors that are not Tessera's own get that rank's number in front.
  void together(const std::function<void()>& work) const;

 private:
  void broadcast_bytes(void* data, std::int64_t n_bytes) const;
  std::vector<std::byte> all_gather_bytes(std::span<const std::byte> bytes) const;
  std::vector<std::byte> exchange_bytes(std::span<const std::span<const std::byte>> to) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace tessera::comm
