// Wide characters on our streams. The C library takes these for byte streams. So each character is
// converted by the locale in force and passes through the byte calls.
#include <iconv.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/core/engine.h"
#include "posix/libc/calls.h"
#include "posix/libc/stdio.h"

namespace posix {

// Locks the FILE as the C library does.
namespace {
class Hold {
 public:
  explicit Hold(FILE* file) : file_(file) { flockfile(file); }
  ~Hold() { funlockfile(file_); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  FILE* file_;
};
}  // namespace

// Writes a character that the locale lacks as the C library does: as a similar one, or a question
// mark.
static size_t nearest(wchar_t wide, char* bytes, size_t room) {
  char charset[64];
  snprintf(charset, sizeof charset, "%s//TRANSLIT", nl_langinfo(CODESET));
  iconv_t conversion = iconv_open(charset, "WCHAR_T");
  if (conversion == reinterpret_cast<iconv_t>(-1)) return static_cast<size_t>(-1);
  char* in = reinterpret_cast<char*>(&wide);
  char* out = bytes;
  size_t in_left = sizeof wide, out_left = room;
  const size_t failed = iconv(conversion, &in, &in_left, &out, &out_left);
  iconv_close(conversion);
  return failed == static_cast<size_t>(-1) ? failed : room - out_left;
}

static bool write_wide(Stream* stream, wchar_t wide) {
  char bytes[4 * MB_LEN_MAX];
  const mbstate_t before = stream->write_state;
  size_t count = wcrtomb(bytes, wide, &stream->write_state);
  if (count == static_cast<size_t>(-1)) {
    stream->write_state = before;
    count = nearest(wide, bytes, sizeof bytes);
  }
  if (count == static_cast<size_t>(-1)) return false;
  for (size_t i = 0; i < count; ++i) {
    if (putc_unlocked(bytes[i], stream->file) == EOF) return false;
  }
  return true;
}

static wint_t get(Stream* stream) {
  if (stream->pushed_back != WEOF) {
    wint_t wide = stream->pushed_back;
    stream->pushed_back = WEOF;
    return wide;
  }
  for (;;) {
    int byte = getc_unlocked(stream->file);
    if (byte == EOF) return WEOF;
    char one = static_cast<char>(byte);
    wchar_t wide;
    size_t used = mbrtowc(&wide, &one, 1, &stream->read_state);
    if (used == static_cast<size_t>(-1)) return WEOF;
    if (used != static_cast<size_t>(-2)) return static_cast<wint_t>(wide);
  }
}

// Returns a wide format in the locale's bytes, to be freed, or null and errno.
static char* narrowed(const wchar_t* format) {
  mbstate_t state = {};
  const wchar_t* rest = format;
  size_t size = wcsrtombs(nullptr, &rest, 0, &state);
  if (size == static_cast<size_t>(-1)) return nullptr;
  char* narrow = static_cast<char*>(malloc(size + 1));
  if (narrow != nullptr) wcsrtombs(narrow, &rest, size + 1, &state);
  return narrow;
}

// Puts the bytes of a character back that ungetwc took.
static void push_bytes_back(Stream* stream) {
  if (stream->pushed_back == WEOF) return;
  char bytes[MB_LEN_MAX];
  mbstate_t state = {};
  size_t count = wcrtomb(bytes, static_cast<wchar_t>(stream->pushed_back), &state);
  stream->pushed_back = WEOF;
  for (; count != static_cast<size_t>(-1) && count > 0; --count)
    ungetc(static_cast<unsigned char>(bytes[count - 1]), stream->file);
}

// A byte stream refuses wide calls; one without orientation becomes wide.
static bool orient(Stream* stream) {
  if (stream->orientation == 0) stream->orientation = 1;
  return stream->orientation > 0;
}

namespace serve {

int fwide(FILE* file, int mode) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::fwide(file, mode);
  if (stream->orientation == 0 && mode != 0) stream->orientation = mode > 0 ? 1 : -1;
  return stream->orientation;
}

wint_t fgetwc(FILE* file) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::fgetwc(file);
  if (!orient(stream)) return WEOF;
  Hold hold(file);
  return get(stream);
}

wint_t ungetwc(wint_t wide, FILE* file) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::ungetwc(wide, file);
  if (!orient(stream) || wide == WEOF || stream->pushed_back != WEOF) return WEOF;
  Hold hold(file);
  stream->pushed_back = wide;
  file->_flags &= ~0x10;  // no longer at the end (libio.h)
  return wide;
}

wchar_t* fgetws(wchar_t* line, int size, FILE* file) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::fgetws(line, size, file);
  if (!orient(stream) || size <= 0) return nullptr;
  Hold hold(file);
  int count = 0;
  while (count < size - 1) {
    wint_t wide = get(stream);
    if (wide == WEOF) break;
    line[count++] = static_cast<wchar_t>(wide);
    if (wide == L'\n') break;
  }
  if ((count == 0 && size > 1) || ferror(file) != 0) return nullptr;
  line[count] = L'\0';
  return line;
}

wint_t fputwc(wchar_t wide, FILE* file) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::fputwc(wide, file);
  if (!orient(stream)) return WEOF;
  Hold hold(file);
  return write_wide(stream, wide) ? static_cast<wint_t>(wide) : WEOF;
}

int fputws(const wchar_t* text, FILE* file) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::fputws(text, file);
  if (!orient(stream)) return -1;
  Hold hold(file);
  for (; *text != L'\0'; ++text) {
    if (!write_wide(stream, *text)) return -1;
  }
  return 1;
}

// Formats into memory first, because the length is unknown in advance.
int vfwprintf(FILE* file, const wchar_t* format, va_list arguments) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::vfwprintf(file, format, arguments);
  if (!orient(stream)) return -1;
  wchar_t* text = nullptr;
  size_t length = 0;
  FILE* memory = open_wmemstream(&text, &length);
  if (memory == nullptr) return -1;
  int count = real::vfwprintf(memory, format, arguments);
  real::fclose(memory);
  {
    Hold hold(file);
    for (size_t i = 0; count >= 0 && i < length; ++i) {
      if (!write_wide(stream, text[i])) count = -1;
    }
  }
  free(text);
  return count;
}

int vfwscanf(FILE* file, const wchar_t* format, va_list arguments) {
  Stream* stream = stream_of(file);
  if (stream == nullptr) return real::__isoc99_vfwscanf(file, format, arguments);
  if (!orient(stream)) return EOF;
  // The byte form of the same format reads the input; results of %ls and %lc are converted there.
  char* narrow = narrowed(format);
  if (narrow == nullptr) return EOF;
  Hold hold(file);
  push_bytes_back(stream);
  int count = vfscanf(file, narrow, arguments);
  free(narrow);
  return count;
}

}  // namespace serve

#define FORWARD_TO(call, file, last)                \
  va_list arguments;                                \
  va_start(arguments, last);                        \
  int count = serve::call(file, format, arguments); \
  va_end(arguments);                                \
  return count;
#define FORWARD(file, last) FORWARD_TO(vfwprintf, file, last)

POSIX_EXPORT int posix_export_fwprintf(FILE* file, const wchar_t* format, ...) __asm__("fwprintf");
int posix_export_fwprintf(FILE* file, const wchar_t* format, ...){FORWARD(file, format)}

POSIX_EXPORT int posix_export_wprintf(const wchar_t* format, ...) __asm__("wprintf");
int posix_export_wprintf(const wchar_t* format, ...){FORWARD(stdout, format)}

POSIX_EXPORT int posix_export_fwprintf_chk(FILE* file, int flag, const wchar_t* format,
                                           ...) __asm__("__fwprintf_chk");
int posix_export_fwprintf_chk(FILE* file, int, const wchar_t* format, ...){FORWARD(file, format)}

POSIX_EXPORT
    int posix_export_wprintf_chk(int flag, const wchar_t* format, ...) __asm__("__wprintf_chk");
int posix_export_wprintf_chk(int, const wchar_t* format, ...){FORWARD(stdout, format)}

POSIX_EXPORT int posix_export_fwscanf(FILE* file, const wchar_t* format, ...) __asm__("fwscanf");
int posix_export_fwscanf(FILE* file, const wchar_t* format, ...){FORWARD_TO(vfwscanf, file, format)}

POSIX_EXPORT int posix_export_wscanf(const wchar_t* format, ...) __asm__("wscanf");
int posix_export_wscanf(const wchar_t* format, ...){FORWARD_TO(vfwscanf, stdin, format)}

POSIX_EXPORT int posix_export_c99_fwscanf(FILE* file, const wchar_t* format,
                                          ...) __asm__("__isoc99_fwscanf");
int posix_export_c99_fwscanf(FILE* file, const wchar_t* format,
                             ...){FORWARD_TO(vfwscanf, file, format)}

POSIX_EXPORT int posix_export_c99_wscanf(const wchar_t* format, ...) __asm__("__isoc99_wscanf");
int posix_export_c99_wscanf(const wchar_t* format, ...) { FORWARD_TO(vfwscanf, stdin, format) }

}  // namespace posix
