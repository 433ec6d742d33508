#include "solvers/fields.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tessera::solvers {
namespace {

std::int64_t size_of(Element element) {
  switch (element) {
    case Element::integer:
      return sizeof(int);
    case Element::real:
      return sizeof(Real);
    case Element::number:
      return sizeof(double);
    case Element::complex:
      break;
  }
  return sizeof(device::complex);
}

char* bytes_from(const Field& field, std::int64_t first) {
  return static_cast<char*>(field.data) + first * size_of(field.element);
}

template <class T>
void append_doubles(const Field& field, std::vector<double>& all) {
  std::vector<T> values(static_cast<std::size_t>(field.n_values));
  copy_out(field, 0, field.n_values, values.data());
  std::ranges::transform(values, std::back_inserter(all),
                         [](T value) { return static_cast<double>(value); });
}

template <class T>
void put_doubles(const Field& field, std::span<const double> all) {
  std::vector<T> values;
  std::ranges::transform(all, std::back_inserter(values),
                         [](double value) { return static_cast<T>(value); });
  copy_in(field, 0, field.n_values, values.data());
}

}  // namespace

std::int64_t Field::n_bytes() const {
  return n_values * size_of(element);
}

void append(Fields& to, Fields more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Fields named(const std::string& prefix, Fields fields) {
  for (Field& field : fields) field.name.insert(0, prefix);
  return fields;
}

void copy_out(const Field& field, std::int64_t first, std::int64_t count, void* to) {
  const auto n_bytes = static_cast<std::size_t>(count * size_of(field.element));
  if (n_bytes == 0) return;
  if (field.on_host) {
    std::memcpy(to, bytes_from(field, first), n_bytes);
    return;
  }
  Kokkos::deep_copy(device::HostView<char*>(static_cast<char*>(to), n_bytes),
                    device::DeviceView<char*>(bytes_from(field, first), n_bytes));
}

void copy_in(const Field& field, std::int64_t first, std::int64_t count, const void* from) {
  const auto n_bytes = static_cast<std::size_t>(count * size_of(field.element));
  if (n_bytes == 0) return;
  if (field.on_host) {
    std::memcpy(bytes_from(field, first), from, n_bytes);
    return;
  }
  Kokkos::deep_copy(device::DeviceView<char*>(bytes_from(field, first), n_bytes),
                    device::HostView<const char*>(static_cast<const char*>(from), n_bytes));
}

std::vector<double> to_doubles(const Field& field) {
  std::vector<double> all;
  if (field.element == Element::integer) append_doubles<int>(field, all);
  if (field.element == Element::real) append_doubles<Real>(field, all);
  if (field.element == Element::number) append_doubles<double>(field, all);
  return all;
}

void from_doubles(const Field& field, std::span<const double> values) {
  if (field.element == Element::integer) put_doubles<int>(field, values);
  if (field.element == Element::real) put_doubles<Real>(field, values);
  if (field.element == Element::number) put_doubles<double>(field, values);
}

}  // namespace tessera::solvers
