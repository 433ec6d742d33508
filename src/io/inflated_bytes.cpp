#include "inflated_bytes.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::io {

InflatedBytes::InflatedBytes(const std::string& path, std::int64_t first, std::int64_t n_bytes)
    : path_(path),
      file_(path, std::ios::binary),
      first_(first),
      n_bytes_(n_bytes),
      deflated_(1 << 16) {
  if (inflateInit(&stream_) != Z_OK) throw SystemError("zlib does not start");
  begin();
}

InflatedBytes::~InflatedBytes() {
  inflateEnd(&stream_);
}

void InflatedBytes::read(std::int64_t at, std::int64_t n, void* to) {
  if (at < at_) begin();
  std::array<unsigned char, 1 << 16> skipped;
  while (at_ < at) inflate_to(skipped.data(), std::min(at - at_, std::ssize(skipped)));
  inflate_to(static_cast<unsigned char*>(to), n);
}

void InflatedBytes::begin() {
  inflateReset(&stream_);
  stream_.avail_in = 0;
  file_.clear();
  file_.seekg(first_);
  left_ = n_bytes_;
  at_ = 0;
}

void InflatedBytes::inflate_to(unsigned char* to, std::int64_t n) {
  at_ += n;
  while (n > 0) {
    const auto part = std::min<std::int64_t>(n, std::numeric_limits<uInt>::max());
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(part);
    if (stream_.avail_in == 0) refill();
    const int status = inflate(&stream_, Z_NO_FLUSH);
    const std::int64_t got = part - stream_.avail_out;
    to += got;
    n -= got;
    if (status != Z_OK && !(status == Z_STREAM_END && n == 0))
      throw InputError(text('"', path_, "\": its compressed numbers are ",
                            status == Z_STREAM_END ? "fewer than it says" : "damaged",
                            "; copy or write it again"));
  }
}

void InflatedBytes::refill() {
  const std::int64_t n = std::min(left_, std::ssize(deflated_));
  if (n == 0 || !file_.read(reinterpret_cast<char*>(deflated_.data()), n))
    throw InputError(text('"', path_, "\" is cut short; copy or write it again"));
  left_ -= n;
  stream_.next_in = deflated_.data();
  stream_.avail_in = static_cast<uInt>(n);
}

}  // namespace tessera::io
