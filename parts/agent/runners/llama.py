"""Entry of a container with a model for llama.cpp: `python3 -u /rt/runner/llama.py`. See README.md."""

import sys

from resontech_llama.main import main

if __name__ == "__main__":
    sys.exit(main())
