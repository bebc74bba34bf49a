/* FILE, and the standard streams. One paragraph per trap; see show.h. */
#include <stdarg.h>

#include "show.h"

static void streams(void) {
  FILE* f = fopen("stream", "w+");
  SHOW(f != NULL);
  SHOW(fprintf(f, "%d %s\n", 42, "words"));
  SHOW(fputs("line\n", f));
  SHOW(fseek(f, 0, SEEK_SET));
  int number = 0;
  char word[32];
  SHOW(fscanf(f, "%d %31s", &number, word));
  printf("%d %s\n", number, word);
  SHOW(ftell(f));
  SHOW(fileno(f) > 2);
  char* line = NULL;
  size_t room = 0;
  getline(&line, &room, f);
  SHOW(getline(&line, &room, f));
  SHOW(getline(&line, &room, f));
  SHOW(feof(f) != 0);
  SHOW(fseek(f, -3, SEEK_END));
  SHOW(fgetc(f));
  SHOW(ungetc('U', f));
  SHOW(fgetc(f));
  SHOW(fflush(f));
  SHOW(ftruncate(fileno(f), 4));
  SHOW(fclose(f));
  show_file("stream");
  SHOW(fopen("stream", "wx") != NULL);
  SHOW(fopen("stream", "odd") != NULL);
  SHOW(fopen("none/none", "r") != NULL);
  f = fopen("stream", "a+");
  SHOW(fputs("appended", f));
  rewind(f);
  SHOW(fread(buffer, 1, 100, f));
  SHOW(fclose(f));
  f = fdopen(open("stream", O_RDONLY), "r");
  setvbuf(f, NULL, _IONBF, 0);
  SHOW(fgetc(f));
  SHOW(fputc('x', f));
  SHOW(ferror(f) != 0);
  f = freopen("other", "w", f);
  SHOW(fputs("reopened", f));
  SHOW(fclose(f));
  show_file("other");
  SHOW(fdopen(open("other", O_RDONLY), "w") != NULL);
  static char big[300000];
  memset(big, 'b', sizeof big);
  f = fopen("big", "w");
  SHOW(fwrite(big, 1000, 300, f));
  SHOW(fclose(f));
  f = fopen("big", "r");
  SHOW(fread(big, 1, sizeof big, f));
  SHOW(fgetc(f));
  SHOW(fclose(f));
  f = fopen("wide", "w+");
  SHOW(fwide(f, 1) > 0);
  SHOW(fputws(L"gr\u00fc\u00df dich\n", f));
  SHOW(fwprintf(f, L"%d %ls\n", 7, L"\u2192"));
  SHOW(fputwc(L'\u00e9', f));
  rewind(f);
  wchar_t wide[64];
  SHOW(fgetws(wide, 64, f) != NULL);
  SHOW(wcslen(wide));
  SHOW(fgetwc(f));
  SHOW(ungetwc(L'x', f));
  SHOW(fgetwc(f));
  SHOW(fclose(f));
  show_file("wide");
}

/* Tables of mounts, which the C library opens by itself. */
static void mounts(void) {
  struct mntent entry = {"device", "/mnt/place", "ext4", "rw,noatime", 1, 2};
  FILE* table = setmntent("table", "w");
  printf("%d\n", table != NULL);
  if (table == NULL) return;
  SHOW(addmntent(table, &entry));
  entry.mnt_dir = "/mnt/with space";
  SHOW(addmntent(table, &entry));
  SHOW(endmntent(table));
  show_file("table");
  table = setmntent("table", "r");
  for (const struct mntent* next; table != NULL && (next = getmntent(table)) != NULL;)
    printf("%s %s %s %d\n", next->mnt_dir, next->mnt_type, next->mnt_opts, next->mnt_passno);
  SHOW(endmntent(table));
  printf("%d %s\n", setmntent("missing", "r") == NULL, strerrorname_np(errno));
}

/* freopen gives back what it was given, also to those who do not look. */
static void reopened(void) {
  close(make("in", "abc"));
  FILE* f = fopen("/dev/null", "r");
  SHOW(freopen("in", "r", f) == f);
  SHOW(fgetc(f));
  SHOW(fclose(f));
  static char own[100];
  f = fopen("/dev/null", "w");
  setvbuf(f, own, _IOFBF, sizeof own);
  fputs("gone\n", f);
  int number = fileno(f);
  SHOW(freopen("log", "w", f) != NULL);
  SHOW(fileno(f) == number);
  SHOW(fprintf(f, "by the old pointer %d\n", 1));
  SHOW(fflush(f));
  show_file("log");
  SHOW(freopen("log", "a", f) == f);
  SHOW(ftell(f));
  SHOW(fputs("more\n", f) >= 0);
  SHOW(freopen("/dev/null", "w", f) == f);
  SHOW(fputs("gone\n", f) >= 0);
  SHOW(freopen("log", "r+", f) == f);
  SHOW(fileno(f) == number);
  while (fgets(buffer, 100, f) != NULL) fputs(buffer, stdout);
  SHOW(feof(f) != 0);
  SHOW(fclose(f));
  /* Wide, then bytes. */
  f = fopen("/dev/null", "r+");
  SHOW(fwide(f, 1) > 0);
  SHOW(fputwc(L'x', f));
  SHOW(freopen("bytes", "w+", f) == f);
  SHOW(fputs("bytes\n", f) >= 0);
  rewind(f);
  SHOW(fgets(buffer, 100, f) != NULL);
  SHOW(fclose(f));
  /* It cannot be opened: the stream is closed, and goes on to be one. */
  f = fopen("/dev/null", "w");
  SHOW(freopen("none/none", "w", f) != NULL);
  SHOW(freopen("late", "w", f) == f);
  SHOW(fputs("late\n", f) >= 0);
  SHOW(freopen("none/none", "w", f) != NULL);
  SHOW(freopen("late", "a", f) == f);
  SHOW(fputs("later\n", f) >= 0);
  SHOW(fclose(f));
  show_file("late");
  /* Its number is free. */
  f = fopen("/dev/null", "w");
  close(fileno(f));
  SHOW(freopen("free", "w", f) == f);
  SHOW(fputs("free\n", f) >= 0);
  SHOW(fclose(f));
  show_file("free");
  /* A program that is to see it under its number. */
  fflush(stdout);
  int saved = dup(1);
  SHOW(freopen("out", "w", stdout) == stdout);
  SHOW(fileno(stdout));
  fflush(stdout);
  SHOW(system("echo from a shell"));
  fflush(stdout);
  dup2(saved, 1);
  show_file("out");
}

static void standard(void) {
  fflush(stdout);
  int saved = dup(1), fd = open("standard", O_RDWR | O_CREAT | O_TRUNC, 0644);
  printf("before ");
  dup2(fd, 1);
  printf("printf\n");
  fflush(stdout);
  puts("puts");
  putchar('c');
  fflush(stdout);
  system("echo from a shell");
  dup2(saved, 1);
  close(fd), close(saved);
  printf("back\n");
  show_file("standard");
  fflush(stdout);
  saved = dup(1);
  SHOW(freopen("standard", "a", stdout) != NULL);
  printf("reopened\n");
  fflush(stdout);
  dup2(saved, 1);
  show_file("standard");
  int in = dup(0);
  SHOW(freopen("standard", "r", stdin) != NULL);
  char word[32] = "";
  SHOW(scanf("%31s", word));
  printf("%s\n", word);
  dup2(in, 0);
  FILE* shell = popen("true", "r");
  SHOW(fwide(shell, 0) < 0);
  SHOW(pclose(shell));
}

wchar_t* __fgetws_chk(wchar_t* line, size_t room, int size, FILE* stream);
int __vwprintf_chk(int flag, const wchar_t* format, va_list arguments);
static int checked(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = __vwprintf_chk(1, format, arguments);
  va_end(arguments);
  return count;
}

/* The standard streams, in every spelling of the wide calls; the locale is C, which has no such
 * letters. */
static void wide(void) {
  close(make("wide", "one\ntwo"));
  setlocale(LC_ALL, "C");
  wchar_t line[8] = L"";
  if (freopen("wide", "r", stdin) == NULL || freopen("said", "w", stdout) == NULL) return;
  fprintf(stderr, "%d\n", __fgetws_chk(line, 8, 8, stdin) != NULL);
  checked(L"%ls", line);
  putwchar_unlocked((wchar_t)getwchar_unlocked());
  fprintf(stderr, "%d\n", checked(L" \x201cletters\x201d \xe9 %d\n", 5));
  fclose(stdout);
}

int __dprintf_chk(int fd, int flag, const char* format, ...);

/* Programs built with _FORTIFY_SOURCE call the checked one. */
static void printed(void) {
  int fd = open("printed", O_RDWR | O_CREAT | O_TRUNC, 0644);
  SHOW(dprintf(fd, "%d %s\n", 42, "words"));
  SHOW(__dprintf_chk(fd, 1, "%s %d\n", "checked", 7));
  SHOW(dprintf(fd, "%s", ""));
  SHOW(lseek(fd, 0, SEEK_CUR));
  static char big[300000];
  memset(big, 'p', sizeof big - 1);
  SHOW(dprintf(fd, "%s", big));
  struct stat st;
  fstat(fd, &st);
  printf("size %ld\n", (long)st.st_size);
  close(fd);
  SHOW(truncate("printed", 30));
  show_file("printed");
  fd = open("printed", O_RDONLY);
  SHOW(dprintf(fd, "%s", "words"));
  SHOW(dprintf(fd, "%s", ""));
  close(fd);
}

PARTS({"mounts", mounts}, {"printed", printed}, {"streams", streams}, {"reopened", reopened},
      {"standard", standard}, {"wide", wide})
