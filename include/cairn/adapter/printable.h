/* Texts that hold names of others, as a terminal may show them: each byte of a hidden character
 * becomes \xNN.
 *
 * Hidden are characters that change how other ones are shown, or that nobody sees: controls (also
 * U+0080 to U+009F), separators of lines, what Unicode ignores by default (zero-width characters,
 * marks of direction, tags), and bytes that are not UTF-8. bench/python/cairn_bench/terminal.py has
 * the same table; tests/structure/shown_values_test.py compares the two.
 */
#ifndef CAIRN_ADAPTER_PRINTABLE_H
#define CAIRN_ADAPTER_PRINTABLE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int cairn_is_hidden(uint32_t character) {
  /* Ascending. */
  static const uint32_t hidden[][2] = {
      {0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
      {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
      {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
      {0xd800, 0xdfff}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
      {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
  };
  size_t i;
  for (i = 0; i < sizeof hidden / sizeof hidden[0] && character >= hidden[i][0]; ++i)
    if (character <= hidden[i][1]) return 1;
  return 0;
}

/* Bytes of the first character of a text that is not empty. `*hidden`: whether it is hidden. A byte
 * that begins no UTF-8 is a hidden character of its own. */
static inline size_t cairn_first_character(const char* text, size_t length, int* hidden) {
  const unsigned char first = (unsigned char)text[0];
  const size_t bytes = first < 0x80   ? 1
                       : first < 0xc2 ? 0
                       : first < 0xe0 ? 2
                       : first < 0xf0 ? 3
                       : first < 0xf5 ? 4
                                      : 0;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t character = bytes < 2 ? first : first & (0x7fU >> bytes);
  size_t i;
  *hidden = 1;
  if (bytes == 0 || bytes > length) return 1;
  for (i = 1; i < bytes; ++i) {
    const unsigned char next = (unsigned char)text[i];
    if ((next & 0xc0U) != 0x80U) return 1;
    character = character << 6 | (next & 0x3fU);
  }
  if (character < least[bytes] || character > 0x10ffff) return 1;
  *hidden = cairn_is_hidden(character);
  return bytes;
}

/* Writes `text` to `to` with all hidden characters as \xNN, cut to `room` - 1 bytes, with a zero
 * byte behind them. Returns the length. `room` is not 0. */
static inline size_t cairn_printable(char* to, size_t room, const char* text, size_t length) {
  static const char digits[] = "0123456789abcdef";
  size_t used = 0;
  while (length != 0) {
    int hidden;
    const size_t bytes = cairn_first_character(text, length, &hidden);
    size_t i;
    if (used + bytes * (hidden ? 4U : 1U) >= room) break;
    for (i = 0; i < bytes; ++i) {
      const unsigned char byte = (unsigned char)text[i];
      if (!hidden) {
        to[used++] = text[i];
        continue;
      }
      to[used++] = '\\';
      to[used++] = 'x';
      to[used++] = digits[byte >> 4];
      to[used++] = digits[byte & 15];
    }
    text += bytes;
    length -= bytes;
  }
  to[used] = '\0';
  return used;
}

/* Writes a line of printf form to `to`, with all hidden characters as \xNN, and a line end. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static inline void
cairn_show_line(FILE* to, const char* format, ...) {
  char text[2048];
  char shown[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  cairn_printable(shown, sizeof shown, text, strlen(text));
  fprintf(to, "%s\n", shown);
}

#ifdef __cplusplus
}
#endif

#endif
