// wordexp: the C library's own matches patterns against the system's directories. So it gets the
// words with their patterns hidden, this file matches them, and the C library builds the result
// from quoted words.
#include <stdlib.h>
#include <string.h>

#include "posix/core/calls.h"
#include "posix/libc/calls.h"
#include "posix/path/covered.h"

namespace posix {

constexpr char kSpecial[] = "*?[";
constexpr char kHidden[] = "\1\2\3";  // these replace them

// Returns the end of a quotation or an expansion that begins at `at`, or `at` if there is none.
static const char* end_of_quoted(const char* at) {
  if (*at == '\\') return at[1] != '\0' ? at + 2 : at + 1;
  char open = '\0', close = '\0';
  if (*at == '\'' || *at == '"' || *at == '`') close = *at++;
  for (const char* pair : {"()", "{}", "[]"}) {
    if (close != '\0' || at[0] != '$' || at[1] != pair[0]) continue;
    open = pair[0];
    close = pair[1];
    at += 2;
  }
  if (close == '\0') return at;
  for (int depth = 1; *at != '\0';) {
    if (*at == close && --depth == 0) return at + 1;
    if (*at == open) ++depth;
    // In quotes of one kind, those of the other are plain text.
    const bool plain = close == '\'' || (close == '"' && *at == '\'') || *at == close;
    const char* end = plain ? at : end_of_quoted(at);
    at = end != at ? end : at + 1;
  }
  return at;
}

static void hide_patterns(char* words) {
  while (*words != '\0') {
    const char* end = end_of_quoted(words);
    if (end != words) {
      words += end - words;
      continue;
    }
    if (const char* special = strchr(kSpecial, *words)) *words = kHidden[special - kSpecial];
    ++words;
  }
}

// A text that grows; failed() after memory is out.
class Text {
 public:
  ~Text() { free(text_); }
  void add(char c) {
    if (used_ + 1 >= room_) {
      room_ = 2 * room_ + 64;
      char* more = static_cast<char*>(realloc(text_, room_));
      failed_ = failed_ || more == nullptr;
      if (more != nullptr) text_ = more;
    }
    if (failed_) return;
    text_[used_++] = c;
    text_[used_] = '\0';
  }
  void add_quoted(const char* word) {
    add('"');
    for (; *word != '\0'; ++word) {
      if (strchr("\"\\$`", *word) != nullptr) add('\\');
      add(*word);
    }
    add('"');
    add(' ');
  }
  bool failed() const { return failed_; }
  const char* get() const { return text_ != nullptr ? text_ : ""; }

 private:
  char* text_ = nullptr;
  size_t used_ = 0;
  size_t room_ = 0;
  bool failed_ = false;
};

static void add_matches(char* word, Text* result) {
  Text pattern;
  bool any = false;
  for (char* c = word; *c != '\0'; ++c) {
    if (const char* hidden = strchr(kHidden, *c)) {
      any = true;
      *c = kSpecial[hidden - kHidden];
    } else if (strchr("*?[\\", *c) != nullptr) {
      pattern.add('\\');
    }
    pattern.add(*c);
  }
  glob_t found;
  if (!any || serve::glob(pattern.get(), 0, nullptr, &found) != 0) {
    result->add_quoted(word);
    return;
  }
  for (size_t i = 0; i < found.gl_pathc; ++i) result->add_quoted(found.gl_pathv[i]);
  globfree(&found);
}

namespace serve {

int wordexp(const char* words, wordexp_t* result, int flags) {
  if (!active() || strpbrk(words, kSpecial) == nullptr || strpbrk(words, kHidden) != nullptr)
    return real::wordexp(words, result, flags);
  char* hidden = strdup(words);
  if (hidden == nullptr) return WRDE_NOSPACE;
  hide_patterns(hidden);
  wordexp_t first;
  int error = real::wordexp(hidden, &first, flags & (WRDE_NOCMD | WRDE_SHOWERR | WRDE_UNDEF));
  free(hidden);
  if (error != 0) return error;
  Text text;
  for (size_t i = 0; i < first.we_wordc; ++i) add_matches(first.we_wordv[i], &text);
  wordfree(&first);
  return text.failed() ? WRDE_NOSPACE : real::wordexp(text.get(), result, flags);
}

}  // namespace serve
}  // namespace posix
