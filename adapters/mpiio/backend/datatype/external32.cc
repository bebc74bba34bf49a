#include "mpiio/backend/datatype/external32.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "mpiio/backend/datatype/contents.h"

// MPICH has the type since 5.0; the header may be older.
#if defined(MPICH_VERSION) && !defined(MPI_COMPLEX4)
#define MPI_COMPLEX4 ((MPI_Datatype)0x4c00042e)
#endif

namespace mpiio {
namespace {

enum class Form : uint8_t { same, long_integer, unsigned_long, wide_character, long_double };

// The form of a predefined type: one value, or two, or four.
struct Value {
  Form form;
  int64_t native;    // bytes in memory
  int64_t external;  // bytes in the file
};
struct Values {
  std::array<Value, 4> value;
  int count;
};

constexpr Value plain(int64_t size) { return {Form::same, size, size}; }
constexpr Value long_value = {Form::long_integer, sizeof(long), 4};
constexpr Value unsigned_long_value = {Form::unsigned_long, sizeof(unsigned long), 4};
constexpr Value wide_value = {Form::wide_character, sizeof(wchar_t), 2};
constexpr Value long_double_value = {Form::long_double, sizeof(long double), 16};
constexpr Value index_value = plain(sizeof(int));

Values one(const Value& value) { return {{value, value, value, value}, 1}; }
Values two(const Value& first, const Value& second) { return {{first, second, first, second}, 2}; }
[[maybe_unused]] Values four(const Value& value) { return {{value, value, value, value}, 4}; }

Values values_of(MPI_Datatype type) {
  if (type == MPI_LONG) return one(long_value);
  if (type == MPI_UNSIGNED_LONG) return one(unsigned_long_value);
  if (type == MPI_WCHAR) return one(wide_value);
  if (type == MPI_LONG_DOUBLE) return one(long_double_value);
  if (type == MPI_C_LONG_DOUBLE_COMPLEX) return two(long_double_value, long_double_value);
#ifdef MPI_CXX_LONG_DOUBLE_COMPLEX
  if (type == MPI_CXX_LONG_DOUBLE_COMPLEX) return two(long_double_value, long_double_value);
#endif
#ifdef MPI_2COMPLEX
  if (type == MPI_2COMPLEX) return four(plain(sizeof(float)));
#endif
#ifdef MPI_2DOUBLE_COMPLEX
  if (type == MPI_2DOUBLE_COMPLEX) return four(plain(sizeof(double)));
#endif
  if (type == MPI_FLOAT_INT) return two(plain(sizeof(float)), index_value);
  if (type == MPI_DOUBLE_INT) return two(plain(sizeof(double)), index_value);
  if (type == MPI_LONG_INT) return two(long_value, index_value);
  if (type == MPI_SHORT_INT) return two(plain(sizeof(short)), index_value);
  if (type == MPI_LONG_DOUBLE_INT) return two(long_double_value, index_value);
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  for (MPI_Datatype pair : {
           MPI_2INT,
           MPI_C_FLOAT_COMPLEX,
           MPI_C_DOUBLE_COMPLEX,
           MPI_COMPLEX,
           MPI_DOUBLE_COMPLEX,
#ifdef MPI_COMPLEX4
           MPI_COMPLEX4,
#endif
           MPI_COMPLEX8,
           MPI_COMPLEX16,
           MPI_COMPLEX32,
           MPI_2REAL,
           MPI_2DOUBLE_PRECISION,
           MPI_2INTEGER,
#ifdef MPI_CXX_FLOAT_COMPLEX
           MPI_CXX_FLOAT_COMPLEX,
           MPI_CXX_DOUBLE_COMPLEX,
#endif
       })
    if (type == pair && pair != MPI_DATATYPE_NULL) return two(plain(size / 2), plain(size / 2));
  if (combiner_of(type) == MPI_COMBINER_F90_COMPLEX) return two(plain(size / 2), plain(size / 2));
  return one(plain(size));
}

void reverse(const char* from, char* to, int64_t size) { std::reverse_copy(from, from + size, to); }

template <typename Number>
Number load(const char* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <typename Number>
void put(Number number, char* to) {
  reverse(reinterpret_cast<const char*>(&number), to, sizeof number);
}

template <typename Number>
Number get(const char* from) {
  Number number;
  reverse(from, reinterpret_cast<char*>(&number), sizeof number);
  return number;
}

template <typename Number>
void store(Number number, char* to) {
  std::memcpy(to, &number, sizeof number);
}

// A 16-byte IEEE number, the form of a long double in external32.
__extension__ using Quad = __float128;

void out(const Value& value, const char* native, char* external) {
  switch (value.form) {
    case Form::same:
      return reverse(native, external, value.native);
    case Form::long_integer:
      return put(static_cast<int32_t>(load<long>(native)), external);
    case Form::unsigned_long:
      return put(static_cast<uint32_t>(load<unsigned long>(native)), external);
    case Form::wide_character:
      return put(static_cast<uint16_t>(load<wchar_t>(native)), external);
    case Form::long_double:
      return put(static_cast<Quad>(load<long double>(native)), external);
  }
}

void in(const Value& value, char* native, const char* external) {
  switch (value.form) {
    case Form::same:
      return reverse(external, native, value.native);
    case Form::long_integer:
      return store(static_cast<long>(get<int32_t>(external)), native);
    case Form::unsigned_long:
      return store(static_cast<unsigned long>(get<uint32_t>(external)), native);
    case Form::wide_character:
      return store(static_cast<wchar_t>(get<uint16_t>(external)), native);
    case Form::long_double:
      return store(static_cast<long double>(get<Quad>(external)), native);
  }
}

template <typename Convert>
int64_t each_value(const std::vector<Element>& elements, int64_t bytes, const Convert& convert) {
  int64_t native = 0;
  int64_t external = 0;
  while (external < bytes && !elements.empty()) {
    const int64_t before = external;
    for (const Element& element : elements) {
      const Values values = values_of(element.type);
      for (int64_t i = 0; i < element.count; ++i) {
        for (int v = 0; v < values.count; ++v) {
          const Value& value = values.value[static_cast<size_t>(v)];
          if (external + value.external > bytes) return native;
          convert(value, native, external);
          native += value.native;
          external += value.external;
        }
      }
    }
    if (external == before) break;
  }
  return native;
}

}  // namespace

int64_t size_in_external32(MPI_Datatype predefined) {
  const Values values = values_of(predefined);
  int64_t size = 0;
  for (int v = 0; v < values.count; ++v) size += values.value[static_cast<size_t>(v)].external;
  return size;
}

int64_t to_external32(const std::vector<Element>& elements, const char* native, char* external,
                      int64_t bytes) {
  return each_value(elements, bytes, [&](const Value& value, int64_t from, int64_t to) {
    out(value, native + from, external + to);
  });
}

int64_t from_external32(const std::vector<Element>& elements, char* native, const char* external,
                        int64_t bytes) {
  return each_value(elements, bytes, [&](const Value& value, int64_t to, int64_t from) {
    in(value, native + to, external + from);
  });
}

}  // namespace mpiio
