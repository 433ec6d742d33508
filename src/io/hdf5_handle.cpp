#include "hdf5_handle.hpp"

namespace tessera::io {

std::string hdf5_reason() {
  std::string reason;
  const auto visit = [](unsigned, const H5E_error2_t* entry, void* found) -> herr_t {
    auto& text = *static_cast<std::string*>(found);
    if (text.empty() && entry->desc) text = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &reason);
  return reason.empty() ? "HDF5 gives no reason" : reason;
}

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::u8:
    case ElementType::boolean:
      return 1;
    case ElementType::u16:
      return 2;
    case ElementType::u32:
    case ElementType::f32:
      return 4;
    case ElementType::i64:
    case ElementType::f64:
    case ElementType::complex64:
      return 8;
    case ElementType::complex128:
      return 16;
    case ElementType::text:
    case ElementType::other:
      break;
  }
  return 0;
}

bool is_complex(ElementType type) {
  return type == ElementType::complex64 || type == ElementType::complex128;
}

bool is_real(ElementType type) {
  return !is_complex(type) && type != ElementType::text && type != ElementType::other;
}

namespace {

Hid complex_type(hid_t part, std::size_t part_bytes) {
  Hid type = checked(H5Tcreate(H5T_COMPOUND, 2 * part_bytes), H5Tclose, "making a complex type");
  check_hdf5(H5Tinsert(type, "r", 0, part), "making a complex type");
  check_hdf5(H5Tinsert(type, "i", part_bytes, part), "making a complex type");
  return type;
}

ElementType compound_type(hid_t type) {
  const bool is_pair = H5Tget_nmembers(type) == 2 && H5Tget_member_index(type, "r") == 0 &&
                       H5Tget_member_index(type, "i") == 1;
  if (!is_pair) return ElementType::other;
  const Hid part = checked(H5Tget_member_type(type, 0), H5Tclose, "reading a complex type");
  if (H5Tget_class(part) != H5T_FLOAT) return ElementType::other;
  return H5Tget_size(part) <= 4 ? ElementType::complex64 : ElementType::complex128;
}

ElementType integer_type(hid_t type) {
  if (H5Tget_sign(type) != H5T_SGN_NONE) return ElementType::i64;
  switch (H5Tget_size(type)) {
    case 1:
      return ElementType::u8;
    case 2:
      return ElementType::u16;
    case 4:
      return ElementType::u32;
    default:
      return ElementType::i64;
  }
}

}  // namespace

Hid hdf5_type(ElementType type) {
  const auto copy = [](hid_t of) { return checked(H5Tcopy(of), H5Tclose, "copying a type"); };
  switch (type) {
    case ElementType::u8:
      return copy(H5T_NATIVE_UINT8);
    case ElementType::u16:
      return copy(H5T_NATIVE_UINT16);
    case ElementType::u32:
      return copy(H5T_NATIVE_UINT32);
    case ElementType::i64:
      return copy(H5T_NATIVE_INT64);
    case ElementType::f32:
      return copy(H5T_NATIVE_FLOAT);
    case ElementType::f64:
      return copy(H5T_NATIVE_DOUBLE);
    case ElementType::complex64:
      return complex_type(H5T_NATIVE_FLOAT, sizeof(float));
    case ElementType::complex128:
      return complex_type(H5T_NATIVE_DOUBLE, sizeof(double));
    case ElementType::boolean:
    case ElementType::text:
    case ElementType::other:
      break;
  }
  throw SystemError("values of this type are neither read nor written as arrays");
}

Hid hdf5_text_type(std::size_t n_bytes) {
  Hid type = checked(H5Tcopy(H5T_C_S1), H5Tclose, "making a text type");
  check_hdf5(H5Tset_size(type, n_bytes), "making a text type");
  check_hdf5(H5Tset_cset(type, H5T_CSET_UTF8), "making a text type");
  if (n_bytes != H5T_VARIABLE)
    check_hdf5(H5Tset_strpad(type, H5T_STR_NULLPAD), "making a text type");
  return type;
}

ElementType element_type(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return integer_type(type);
    case H5T_FLOAT:
      return H5Tget_size(type) <= 4 ? ElementType::f32 : ElementType::f64;
    case H5T_ENUM:
      return ElementType::boolean;
    case H5T_COMPOUND:
      return compound_type(type);
    case H5T_STRING:
      return ElementType::text;
    default:
      return ElementType::other;
  }
}

std::string read_hdf5_text(hid_t type, const std::function<herr_t(hid_t, void*)>& read,
                           const std::string& what) {
  if (check_hdf5(H5Tis_variable_str(type), what) > 0) {
    char* characters = nullptr;
    check_hdf5(read(type, static_cast<void*>(&characters)), what);
    const std::string text = characters ? characters : "";
    H5free_memory(characters);
    return text;
  }
  std::string text(H5Tget_size(type), '\0');
  check_hdf5(read(type, text.data()), what);
  return text.substr(0, text.find('\0'));
}

}  // namespace tessera::io
