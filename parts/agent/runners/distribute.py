"""Entry of a member of a distributed training: `python3 -u /rt/runner/distribute.py`. See README.md."""

import sys

from resontech_distributed.main import main

if __name__ == "__main__":
    sys.exit(main())
