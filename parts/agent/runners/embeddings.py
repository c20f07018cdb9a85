"""Entry of a container with a model that embeds texts: `python3 -u /rt/runner/embeddings.py`. See README.md."""

import sys

from resontech_embeddings.main import main

if __name__ == "__main__":
    sys.exit(main())
