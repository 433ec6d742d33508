#pragma once

#include <csignal>

#include <sys/resource.h>

namespace tessera::io::testing {

/// While it lives, no file of this process can grow past `n_bytes`: a full disk without one.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t n_bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{n_bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace tessera::io::testing
