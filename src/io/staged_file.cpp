#include "tessera/io/staged_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "tessera/base/progress.hpp"
#include "tessera/base/text.hpp"

#include "hdf5_handle.hpp"
#include "hdf5_slab.hpp"
#include "io/writers.hpp"
#include "save_steps.hpp"

namespace tessera::io {
namespace {

InputError not_written(const std::string& path) {
  return InputError(text('"', path, "\" cannot be written to its end: ", std::strerror(errno),
                         "; make room or write elsewhere"));
}

}  // namespace

void write_at(int descriptor, const std::string& path, std::int64_t place, const char* bytes,
              std::int64_t n_bytes) {
  constexpr std::int64_t piece_bytes = 16 << 20;
  while (n_bytes > 0) {
    note_progress();
    const auto n = static_cast<std::size_t>(std::min(n_bytes, piece_bytes));
    const ssize_t written = ::pwrite(descriptor, bytes, n, place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw not_written(path);
    place += written;
    bytes += written;
    n_bytes -= written;
  }
}

namespace {

/// Where HDF5 has put the values of each; 0 where there are none.
std::vector<std::int64_t> places_of(const std::string& path,
                                    const std::vector<std::string>& names) {
  const Hid file = checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                           text('"', path, "\" cannot be opened again"));
  std::vector<std::int64_t> places;
  for (const std::string& name : names) {
    const haddr_t place = H5Dget_offset(open_dataset(file, name));
    places.push_back(place == HADDR_UNDEF ? 0 : static_cast<std::int64_t>(place));
  }
  return places;
}

}  // namespace

StagedFile::StagedFile(std::string path, const comm::Communicator& comm, CopyMemory& memory)
    : path_(std::move(path)), comm_(comm), memory_(memory) {}

StagedFile::~StagedFile() {
  for (Slab& slab : slabs_) memory_.give_back(std::move(slab.values));
  if (gathered_) memory_.give_back(std::move(*gathered_));
}

FreshBytes StagedFile::room(std::int64_t n_bytes) {
  return memory_.take(static_cast<std::size_t>(n_bytes));
}

void StagedFile::create_dataset(const std::string& name, const Extents& extents, ElementType type) {
  datasets_.push_back({name, extents, static_cast<std::int64_t>(size_of(type))});
  structure_.emplace_back([=](File& file) { file.create_dataset(name, extents, type); });
}

void StagedFile::write_doubles(const std::string& name, const Extents& extents,
                               std::vector<double> values) {
  structure_.emplace_back(
      [=, values = std::move(values)](File& file) { file.write_doubles(name, extents, values); });
}

void StagedFile::write_text(const std::string& name, std::string words) {
  structure_.emplace_back(
      [=, words = std::move(words)](File& file) { file.write_text(name, words); });
}

void StagedFile::set_attribute(const std::string& object, const std::string& name, double value) {
  structure_.emplace_back([=](File& file) { file.set_attribute(object, name, value); });
}

void StagedFile::set_attribute(const std::string& object, const std::string& name,
                               const std::string& value) {
  structure_.emplace_back([=](File& file) { file.set_attribute(object, name, value); });
}

std::size_t StagedFile::number_of(const std::string& name) const {
  const auto found = std::ranges::find(datasets_, name, &Dataset::name);
  if (found == datasets_.end())
    throw SystemError(text("no dataset \"", name, "\" was made in \"", path_, '"'));
  return static_cast<std::size_t>(found - datasets_.begin());
}

void StagedFile::write_slab(const std::string& name, const Extents& begin, const Extents& count,
                            FreshBytes values) {
  if (values.size() > 0) slabs_.push_back({number_of(name), begin, count, std::move(values)});
}

void StagedFile::write_slab(const std::string& name, const Extents& begin, const Extents& count,
                            const void* values) {
  const std::int64_t n_bytes = n_elements(count) * datasets_[number_of(name)].value_bytes;
  FreshBytes copy = room(n_bytes);
  if (n_bytes > 0) std::memcpy(copy.data(), values, copy.size());
  write_slab(name, begin, count, std::move(copy));
}

void StagedFile::make_structure() {
  std::vector<std::int64_t> places(datasets_.size());
  comm_.together([&] {
    if (!comm_.is_root()) return;
    std::vector<std::string> names;
    names.reserve(datasets_.size());
    for (const Dataset& dataset : datasets_) names.push_back(dataset.name);
    File file = File::create(path_);
    for (const auto& make : structure_) make(file);
    file.close();
    places = places_of(path_, names);
  });
  comm_.broadcast(std::span<std::int64_t>(places));
  for (std::size_t i = 0; i < places.size(); ++i) datasets_[i].place = places[i];
}

template <class F>
void StagedFile::for_each_run(const Dataset& dataset, const Extents& begin, const Extents& count,
                              const F& f) {
  std::int64_t run = dataset.value_bytes;
  auto axis = std::ssize(count) - 1;
  for (; axis > 0 && count[axis] == dataset.extents[axis]; --axis) run *= count[axis];
  if (axis >= 0) run *= count[axis];
  const std::int64_t n_runs = n_elements(count) * dataset.value_bytes / run;
  for (std::int64_t i = 0; i < n_runs; ++i) {
    std::int64_t place = 0;
    std::int64_t stride = 1;
    std::int64_t rest = i;
    for (auto at = std::ssize(count) - 1; at >= 0; --at) {
      place += (begin[at] + (at < axis ? rest % count[at] : 0)) * stride;
      if (at < axis) rest /= count[at];
      stride *= dataset.extents[at];
    }
    f(place * dataset.value_bytes, i * run, run);
  }
}

void StagedFile::write_runs(int descriptor, const Dataset& dataset, const Extents& begin,
                            const Extents& count, const char* values) const {
  for_each_run(dataset, begin, count,
               [&](std::int64_t place, std::int64_t from, std::int64_t n_bytes) {
                 write_at(descriptor, path_, dataset.place + place, values + from, n_bytes);
               });
}

template <class F>
void StagedFile::for_each_piece(const Slab& slab, int n_writers, const F& f) const {
  const Dataset& dataset = datasets_[slab.dataset];
  const std::int64_t whole = n_elements(dataset.extents) * dataset.value_bytes;
  for_each_run(dataset, slab.begin, slab.count,
               [&](std::int64_t place, std::int64_t from, std::int64_t n) {
                 for (const std::int64_t end = place + n; place < end;) {
                   const WriterShare share = share_at(place, whole, slab.dataset, n_writers);
                   const std::int64_t now = std::min(end, share.end) - place;
                   f(static_cast<std::size_t>(share.writer), dataset.place + place,
                     slab.values.data() + from, now);
                   place += now;
                   from += now;
                 }
               });
}

void StagedFile::hand_to_writers(int per_host) {
  const std::vector<int> writers = writers_of(comm_, per_host);
  std::int64_t n_bytes = 0;
  for (const Slab& slab : slabs_) n_bytes += static_cast<std::int64_t>(slab.values.size());
  comm_.sum(std::span(&n_bytes, 1));
  const auto n_writers = static_cast<int>(std::ssize(writers));
  if (n_writers == comm_.size() || n_bytes > n_writers * most_gathered_bytes) return;
  // Room first: what grows is copied again and again.
  std::vector<std::size_t> sizes(writers.size());
  for (const Slab& slab : slabs_)
    for_each_piece(slab, n_writers,
                   [&](std::size_t writer, std::int64_t, const char*, std::int64_t n) {
                     sizes[writer] += piece_head_bytes + static_cast<std::size_t>(n);
                   });
  std::vector<Pieces> to(writers.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i].reserve(sizes[i]);
  for (Slab& slab : slabs_) {
    for_each_piece(slab, n_writers,
                   [&](std::size_t writer, std::int64_t place, const char* bytes, std::int64_t n) {
                     append_piece(to[writer], place, bytes, n);
                   });
    memory_.give_back(std::move(slab.values));
  }
  slabs_.clear();
  gathered_ = hand_over(to, writers, comm_, memory_);
}

void StagedFile::write_slab_now(const std::string& name, const Extents& begin, const Extents& count,
                                const void* values) const {
  if (n_elements(count) == 0) return;
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) throw not_written(path_);
  write_runs(file.get(), datasets_[number_of(name)], begin, count,
             static_cast<const char*>(values));
}

void StagedFile::write_values() const {
  if (gathered_ && gathered_->size() == 0) return;  // another rank of this host writes
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) throw not_written(path_);
  for (const Slab& slab : slabs_)
    write_runs(file.get(), datasets_[slab.dataset], slab.begin, slab.count, slab.values.data());
  if (gathered_)
    write_pieces(file.get(), path_, std::as_bytes(std::span(gathered_->data(), gathered_->size())));
  // What a full disk does not tell before.
  if (::fsync(file.get()) != 0) throw not_written(path_);
}

}  // namespace tessera::io
