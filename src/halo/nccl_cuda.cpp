#include <chrono>
#include <cstring>
#include <exception>
#include <thread>

#include <nccl.h>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

#include "nccl.hpp"

namespace tessera::halo {
namespace {

using Clock = std::chrono::steady_clock;

cudaStream_t cuda(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

/// Wait while the communicator is busy with a call that returned at once, `timeout_s` at most.
ncclResult_t state_when_settled(ncclComm_t comm, double timeout_s) {
  const Clock::time_point deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                        std::chrono::duration<double>(timeout_s));
  ncclResult_t state = ncclInProgress;
  while (true) {
    const ncclResult_t asked = ncclCommGetAsyncError(comm, &state);
    if (asked != ncclSuccess) return asked;
    if (state != ncclInProgress || Clock::now() > deadline) return state;
    std::this_thread::yield();
  }
}

}  // namespace

Nccl::Id Nccl::make_id() {
  ncclUniqueId made;
  const ncclResult_t result = ncclGetUniqueId(&made);
  if (result != ncclSuccess)
    throw SystemError(text("NCCL: ncclGetUniqueId: ", ncclGetErrorString(result), " (",
                           ncclGetLastError(nullptr), "); NCCL_DEBUG=INFO says more"));
  Id id;
  static_assert(sizeof id == sizeof made);
  std::memcpy(id.data(), &made, sizeof made);
  return id;
}

Nccl::Nccl(const Id& id, int rank, int n_ranks, double timeout_s) : timeout_s_(timeout_s) {
  ncclUniqueId unique;
  std::memcpy(&unique, id.data(), sizeof unique);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  settle(ncclCommInitRankConfig(&comm_, n_ranks, unique, rank, &config), "ncclCommInitRankConfig");
}

Nccl::~Nccl() {
  if (!comm_) return;
  bool ended = std::uncaught_exceptions() == 0;
  if (ended) {
    const ncclResult_t result = ncclCommFinalize(comm_);
    ended = (result == ncclSuccess || result == ncclInProgress) &&
            state_when_settled(comm_, timeout_s_) == ncclSuccess;
  }
  if (ended)
    ncclCommDestroy(comm_);
  else
    ncclCommAbort(comm_);
}

void Nccl::fail(const std::string& why) {
  std::string detail;
  if (comm_) {
    detail = ncclGetLastError(comm_);
    ncclCommAbort(comm_);
    comm_ = nullptr;
  }
  throw SystemError(text("NCCL: ", why, detail.empty() ? "" : " (", detail,
                         detail.empty() ? "" : ")", "; NCCL_DEBUG=INFO says more"));
}

/// A call has returned: what it started is in its stream when this returns.
void Nccl::settle(int result, const char* call) {
  if (result == ncclInProgress) result = state_when_settled(comm_, timeout_s_);
  if (result == ncclInProgress)
    fail(text(call, ": the other ranks did not answer within ", timeout_s_,
              " s (decomposition.transport_timeout_s); one has ended or is stuck"));
  if (result != ncclSuccess)
    fail(text(call, ": ", ncclGetErrorString(static_cast<ncclResult_t>(result))));
}

/// A call within a group has returned; the group's end settles it.
void Nccl::queued(int result, const char* call) {
  if (result != ncclInProgress) settle(result, call);
}

void Nccl::begin_group() {
  settle(ncclGroupStart(), "ncclGroupStart");
}
void Nccl::end_group() {
  settle(ncclGroupEnd(), "ncclGroupEnd");
}

void Nccl::send(const void* values, std::size_t n_bytes, int peer, void* stream) {
  queued(ncclSend(values, n_bytes, ncclUint8, peer, comm_, cuda(stream)), "ncclSend");
}
void Nccl::receive(void* values, std::size_t n_bytes, int peer, void* stream) {
  queued(ncclRecv(values, n_bytes, ncclUint8, peer, comm_, cuda(stream)), "ncclRecv");
}

void Nccl::sum(float* values, std::size_t n, void* stream) {
  settle(ncclAllReduce(values, values, n, ncclFloat, ncclSum, comm_, cuda(stream)),
         "ncclAllReduce");
}
void Nccl::sum(double* values, std::size_t n, void* stream) {
  settle(ncclAllReduce(values, values, n, ncclDouble, ncclSum, comm_, cuda(stream)),
         "ncclAllReduce");
}

void Nccl::broadcast(void* values, std::size_t n_bytes, void* stream) {
  settle(ncclBroadcast(values, values, n_bytes, ncclUint8, 0, comm_, cuda(stream)),
         "ncclBroadcast");
}

void Nccl::check() {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = ncclCommGetAsyncError(comm_, &state);
  if (asked == ncclSuccess && (state == ncclSuccess || state == ncclInProgress)) return;
  fail(text("another rank or the link to it has failed: ",
            ncclGetErrorString(asked == ncclSuccess ? state : asked)));
}

}  // namespace tessera::halo
