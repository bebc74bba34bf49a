"""The command line of `cairn bench`."""

import sys

from . import needs

if __name__ == "__main__":
    needs.check()
    from . import command_line

    sys.exit(command_line.main(sys.argv[1:]))
