"""Pure: what llama.cpp prints and counts, read for the program around it."""

import json
import re
from typing import Optional

from resontech_replica.engine_calls import Refusal
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


# A text that is embedded has to go in one step.
_TOO_LONG = re.compile(r"^input \((\d+) tokens\) is too large to process")
# It tells them as faults of its own: it reads a request before it works.
_OF_REQUEST = re.compile(r"^Failed to parse (?:messages|tools)|^(?:image|audio|video) input is not supported|Jinja Exception")


def refusal_of(status: int, body: bytes) -> Refusal:
    """In the gateway's words."""
    kind, message = _said(body)
    too_long = _TOO_LONG.search(message)
    if too_long is not None:
        return Refusal("exceed_context_size_error", f"a text has {too_long[1]} tokens, which are more than the model takes", "input")
    if status >= 500 and _OF_REQUEST.search(message):
        return Refusal("invalid_request_error", message)
    return Refusal(kind, message)


def _said(body: bytes) -> tuple[str, str]:
    try:
        error = json.loads(body)["error"]
        kind, message = error["type"], error["message"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return "server_error", ""
    return (kind, message) if isinstance(kind, str) and isinstance(message, str) else ("server_error", "")
