"""The command line of `cairn bench`, and of `cairn-bench` from the Python package."""

import sys

from . import needs


def main():
    needs.check()
    from . import command_line

    sys.exit(command_line.main(sys.argv[1:]))


if __name__ == "__main__":
    main()
