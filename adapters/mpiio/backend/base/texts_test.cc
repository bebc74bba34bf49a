#include "mpiio/backend/base/texts.h"

#include <gtest/gtest.h>

namespace mpiio {
namespace {

TEST(Texts, NameAndDeedAreToldOnce) {
  EXPECT_EQ(
      told_once("/d/f", "read at offset 0", "f: read at offset 0: f: bytes 0 to 9 lie elsewhere"),
      "/d/f: read at offset 0: bytes 0 to 9 lie elsewhere");
  EXPECT_EQ(told_once("missing", "open", "/d/missing: there is no such file"),
            "missing: open: there is no such file");
  EXPECT_EQ(told_once("a", "open", "open: a: exists"), "a: open: exists");
  EXPECT_EQ(told_once("/d/a", "open", "Permission denied"), "/d/a: open: Permission denied");
}

TEST(Texts, OfTwoOffsetsTheOneThatFailed) {
  EXPECT_EQ(told_once("/d/sub/f", "read at offset 0", "sub/f: read at offset 77: x: it ends"),
            "/d/sub/f: read at offset 77: x: it ends");
  EXPECT_EQ(told_once("/d/a", "write at offset 0",
                      "a: write at offset 4096, pool /p of node n: it is full"),
            "/d/a: write at offset 4096: pool /p of node n: it is full");
}

TEST(Texts, AnotherFileIsNamed) {
  EXPECT_EQ(told_once("/d/f", "open", "/d/off: exists"), "/d/f: open: /d/off: exists");
  EXPECT_EQ(told_once("/d/f", "open", "read at offset: what"), "/d/f: open: read at offset: what");
}

TEST(Texts, LongNamesAreShortenedInTheirMiddle) {
  const std::string cause = ": read at offset 4096: the cause";
  const std::string text = "/begin/" + std::string(300, 'x') + "/end" + cause;
  const std::string short_text = fitted(text, 100);
  EXPECT_EQ(short_text.size(), size_t{100});
  EXPECT_TRUE(short_text.starts_with("/begin/") && short_text.ends_with("/end" + cause));
  EXPECT_TRUE(short_text.find("...") != std::string::npos);
  EXPECT_EQ(fitted(text, text.size()), text);
  // The name keeps a minimum, and then the end is cut, never within a character.
  const std::string long_cause = "/d/file: " + std::string(200, 'y');
  EXPECT_EQ(fitted(long_cause, 50), long_cause.substr(0, 50));
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += "\xC3\xA4";
  for (const size_t room : {size_t{80}, size_t{81}}) {
    const std::string fits = fitted(letters + cause, room);
    EXPECT_TRUE(fits.size() <= room && fits.ends_with(cause));
    EXPECT_EQ(fits.find("...") % 2, size_t{0});
  }
  EXPECT_EQ(fitted("a: " + letters, 50).size(), size_t{49});
}

}  // namespace
}  // namespace mpiio
