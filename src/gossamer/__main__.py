"""`python -m gossamer`: the command `gossamer`, where scripts are not on the path."""

import sys

from gossamer.cli import main

if __name__ == "__main__":
    sys.exit(main())
