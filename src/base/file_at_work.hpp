#pragma once
/// A library that dies of a damaged file, or goes round in circles in it, names the file.

#include <chrono>
#include <string>

namespace tessera {

/// As long as it lives, this process reads the file at `path`, through a library that may stumble
/// over what is in it. Of the main thread; costs a microsecond and allocates nothing.
class FileAtWork {
 public:
  explicit FileAtWork(const std::string& path);
  ~FileAtWork();
  FileAtWork(const FileAtWork&) = delete;
  FileAtWork& operator=(const FileAtWork&) = delete;

 private:
  bool is_outermost_;
};

/// From here on a crash within a FileAtWork ends the process with one line that names the file, and
/// exit code 2, and so does a library that computes for twice as long as `idle` without reading
/// anything (a chunk of 1 GB takes that long to unpack). A crash elsewhere is what it was. For
/// programs, once; not under sanitizers, which say more.
void name_file_on_crash(std::chrono::milliseconds idle = std::chrono::seconds(3));

}  // namespace tessera
