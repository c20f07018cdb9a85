"""Pure: what vLLM prints, counts and refuses with, read for the program around it."""

import json
import re
from typing import Optional

from resontech_replica.engine_calls import Refusal
from resontech_replica.engine_end import EndWords

# A step counts once it has made a token. One of a long prompt makes none, and takes room: the share of that in use is below 1.
_STEPS = re.compile(rb"^vllm:(?:iteration_tokens_total_count|kv_cache_usage_perc)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
_TOO_LONG = re.compile(r"maximum context length|max_model_len|longer than the maximum model length|reduce the length", re.IGNORECASE)
# Of a picture or a sound, by a model that takes none.
_TEXT_ALONE = re.compile(r"is not a multimodal model|At most 0 (?:image|audio|video)", re.IGNORECASE)
_PARAM = re.compile(r"(?:body\.)?([a-z_]{1,40})")

WORDS = EndWords(
    # Pydantic tells the cause a line below. One process tells of the end of another, whose last line is the cause: a library's that aborts it names its source.
    error=re.compile(r"^(?:Value error, |[\w.]*(?:Error|Exception): (?!\d+ validation error|Engine core initialization failed))|\([\w./-]+\.(?:cpp|cc|cu|c|hpp|h):\d+\)$"),
    # `(EngineCore pid=7) ERROR 11-27 10:25:56 [core.py:12] `
    prefix=re.compile(r"^\s*(?:\([^)]*\) )?(?:[A-Z]+ \S+ \S+ \[[^]]*\] )?\s*"),
    no_memory=re.compile(
        r"out of memory|OutOfMemoryError|No available memory for the cache blocks|KV cache is needed, which is larger than|is less than desired GPU memory utilization|MemoryError",
    ),
    bad_weights=re.compile(
        # Of a configuration that does not fit, pydantic says "Value error" and why.
        r"^Value error, |Cannot find any model weights|contains custom code|SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|trust_remote_code|Unrecognized model|does not recognize this architecture"
        r"|There is no module or parameter named|Invalid repository ID or local directory|Can't load the configuration|Couldn't instantiate the backend tokenizer",
    ),
)


def steps_of(metrics: bytes) -> Optional[float]:
    """Another number after each step, of all its engines together; null where its metrics do not say."""
    found = [float(count) for count in _STEPS.findall(metrics)]
    return sum(found) if found else None


def refusal_of(status: int, body: bytes) -> Refusal:
    """In the gateway's words. A message goes on where the caller can mend something, and nowhere else."""
    message, param = _said(body)
    if 400 <= status < 500 and _TOO_LONG.search(message):
        return Refusal("exceed_context_size_error", message, param)
    if 400 <= status < 500 and _TEXT_ALONE.search(message):
        return Refusal("unsupported_by_model", "the model takes text alone", "messages")
    if 400 <= status < 500:
        return Refusal("invalid_request_error", message, param)
    return Refusal("server_error", "the engine failed over this request")


def _said(body: bytes) -> tuple[str, Optional[str]]:
    """The message, and the field that is meant."""
    try:
        error = json.loads(body)["error"]
        message, param = error["message"], error.get("param")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return "", None
    named = _PARAM.fullmatch(param) if isinstance(param, str) else None
    return (message if isinstance(message, str) else "", None if named is None else named[1])
