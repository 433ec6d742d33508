#include <utility>

#include "tessera/device/stream.hpp"

#include "device/check_cuda.hpp"

namespace tessera::device {
namespace {

cudaEvent_t cuda(void* event) {
  return static_cast<cudaEvent_t>(event);
}
cudaStream_t cuda(const Stream& stream) {
  return static_cast<cudaStream_t>(stream.handle());
}

}  // namespace

Event::Event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  event_ = event;
}

Event::~Event() {
  if (event_) cudaEventDestroy(cuda(event_));
}

Event::Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}

void Event::record(const Device& exec) {
  check_cuda(cudaEventRecord(cuda(event_), exec.cuda_stream()));
}
void Event::record(const Stream& stream) {
  check_cuda(cudaEventRecord(cuda(event_), cuda(stream)));
}

void Event::hold(const Device& exec) const {
  check_cuda(cudaStreamWaitEvent(exec.cuda_stream(), cuda(event_), 0));
}
void Event::hold(const Stream& stream) const {
  check_cuda(cudaStreamWaitEvent(cuda(stream), cuda(event_), 0));
}

bool Event::passed() const {
  const cudaError_t state = cudaEventQuery(cuda(event_));
  if (state == cudaErrorNotReady) {
    cudaGetLastError();  // or the next caller takes it for an error
    return false;
  }
  check_cuda(state);
  return true;
}

void Event::wait() const {
  check_cuda(cudaEventSynchronize(cuda(event_)));
}

Stream::Stream(Priority priority) {
  int min = 0;
  int max = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&min, &max));
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                          priority == Priority::high ? max : min));
  stream_ = stream;
}

Stream::~Stream() {
  cudaStreamDestroy(cuda(*this));
}

void Stream::wait() const {
  check_cuda(cudaStreamSynchronize(cuda(*this)));
}

PinnedBuffer::PinnedBuffer(std::size_t n_bytes) : n_bytes_(n_bytes) {
  if (n_bytes == 0) return;
  void* data = nullptr;
  const cudaError_t code = cudaHostAlloc(&data, n_bytes, cudaHostAllocDefault);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw SystemError(text("no ", n_bytes, " bytes of pinned host memory: ",
                           cudaGetErrorString(code), "; give the job more memory per rank"));
  }
  data_ = static_cast<std::byte*>(data);
}

PinnedBuffer::~PinnedBuffer() {
  if (data_) cudaFreeHost(data_);
}

void copy_async(const Stream& stream, void* to, const void* from, std::size_t n_bytes) {
  check_cuda(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDefault, cuda(stream)));
}
void copy_async(const Device& exec, void* to, const void* from, std::size_t n_bytes) {
  check_cuda(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDefault, exec.cuda_stream()));
}

void* stream_handle(const Device& exec) {
  return exec.cuda_stream();
}

Device device_of(const Stream& stream) {
  return Device(cuda(stream));
}

std::string gpu_identity() {
  int device = 0;
  check_cuda(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device));
  return {properties.uuid.bytes, sizeof properties.uuid.bytes};
}

}  // namespace tessera::device
