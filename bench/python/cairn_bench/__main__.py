"""The command line of `cairn bench`, and of `cairn-bench` from the Python package."""

import os
import sys

from . import needs, start


def main():
    if not sys.flags.isolated and sys.executable:
        command = start.words(sys.executable)
        os.execv(command[0], [*command, *sys.argv[1:]])
    needs.check()
    from . import command_line

    sys.exit(command_line.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
