"""Entry of a job container: `python3 -u /rt/runner/run.py`. See README.md."""

import sys

from resontech_runner.main import main

if __name__ == "__main__":
    sys.exit(main())
