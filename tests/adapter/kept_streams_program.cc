// kept_streams FILE: what a program kept of stdout before it was sent elsewhere goes elsewhere,
// too.
#include <fcntl.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cwchar>
#include <iostream>

int main(int, char** arguments) {
  std::setlocale(LC_ALL, "");
  std::cout << "to the first\n";
  FILE* kept = stdout;
  const int fd = open(arguments[1], O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
  std::fflush(stdout);
  const int before = dup(1);
  dup2(fd, 1);
  std::cout << "cout" << std::endl;
  std::printf("printf\n");
  std::fprintf(kept, "kept\n");
  std::fflush(kept);
  if (std::freopen(arguments[2], "w+", stdout) == nullptr) return 1;
  std::cout << "to another: " << 42 << " \xc3\xa4 7\n" << std::flush;
  std::fprintf(kept, "kept: %d\n", fileno(kept));
  std::fflush(stdout);
  dup2(before, 1);
  std::cout << "to the first again\n" << std::flush;

  FILE* wide = std::fopen(arguments[2], "r");
  wchar_t word[20], letter = L'?';
  int number = 0, second = 0;
  const int got = fwscanf(wide, L"to %ls %d %lc %d", word, &number, &letter, &second);
  std::printf("%d %ls %d %d %d\n", got, word, number, letter == L'\u00e4', second);
  std::printf("%d\n", static_cast<int>(fgetwc(wide)));
  std::fclose(wide);
  return std::cout.good() && std::ferror(kept) == 0 ? 0 : 1;
}
