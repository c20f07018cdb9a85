"""Pure: what llama.cpp prints and counts, read for the program around it."""

import re
from typing import Optional

from resontech_replica.engine_end import EndWords

_DECODES = re.compile(rb"^llamacpp:n_decode_total(?:\{[^}]*\})? (\S+)$", re.MULTILINE)

WORDS = EndWords(
    no_memory=re.compile(r"failed to allocate|unable to allocate|cannot allocate memory|bad_alloc|out of memory", re.IGNORECASE),
    error=re.compile(r"GGML_ASSERT"),
    # Weights that it can't read; later lines only say that all is over.
    bad_weights=re.compile(r"error loading model|invalid magic|failed to load model|unknown model architecture|tensor .* (?:not found|out of)", re.IGNORECASE),
)


def decodes_of(metrics: bytes) -> Optional[float]:
    """How often the engine has decoded; null where its metrics do not say."""
    found = _DECODES.search(metrics)
    return None if found is None else float(found.group(1))
