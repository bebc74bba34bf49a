"""Writes to the terminal: the only door to stdout and stderr of `cairn bench`.

Names, commands and errors come from files that others may have written. A control character in
them must not reach a terminal, so each line passes through printable().
"""

import argparse
import re
import sys

# Characters that change how other ones are shown, or that nobody sees: controls, separators of
# lines, and those that Unicode ignores by default (zero-width ones, marks of direction, tags).
# include/cairn/adapter/printable.h has the same.
HIDDEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F),
    (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)


HIDDEN_CHARACTER = re.compile(f"[{''.join(f'{chr(a)}-{chr(b)}' for a, b in HIDDEN)}]")


def printable(text):
    """A text of one line as a terminal may show it: the bytes of hidden characters as \\xNN."""
    return HIDDEN_CHARACTER.sub(shown, str(text))


def shown(match):
    character = match[0]
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file's name that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def say(*lines, file=None):
    """Prints each argument as one line. file: None for stdout."""
    text = "".join(f"{printable(line)}\n" for line in lines)
    print(text, end="", file=file or sys.stdout, flush=True)


def tell(text):
    """A line on stderr."""
    say(f"cairn bench: {text}", file=sys.stderr)


class Parser(argparse.ArgumentParser):
    """Whose errors hold words of the command line."""

    def _print_message(self, message, file=None):
        if message:
            say(*message.removesuffix("\n").split("\n"), file=file or sys.stderr)
