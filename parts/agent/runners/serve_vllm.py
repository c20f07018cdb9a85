"""Entry of a container with a model for vLLM: `python3 -u /rt/runner/serve_vllm.py`. See README.md."""

import sys

from resontech_vllm.main import main

if __name__ == "__main__":
    sys.exit(main())
