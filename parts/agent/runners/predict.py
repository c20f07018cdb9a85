"""Entry of a replica's container: `python3 -u /rt/runner/predict.py`. See README.md."""

import sys

from resontech_predictor.main import main

if __name__ == "__main__":
    sys.exit(main())
