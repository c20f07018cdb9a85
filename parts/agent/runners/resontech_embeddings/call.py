"""Pure: a call of `/v1/embeddings`, and its answer."""

import base64
import json
from dataclasses import dataclass
from typing import Any, Sequence

from resontech_replica.bad_call import BadCall


@dataclass(frozen=True)
class EmbeddingsCall:
    texts: list[str]
    is_base64: bool


def read_call(raw: bytes, max_inputs: int, size: int) -> EmbeddingsCall:
    """
    @param size: of the model's vectors
    @raise BadCall
    """
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadCall(f"the body is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise BadCall("the body is no JSON object")
    given = said.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise BadCall("input is neither a text nor a list of texts; tokens belong to one model: send text", "input")
    if len(texts) > max_inputs:
        raise BadCall(f"input has more than {max_inputs} texts", "input")
    form = said.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise BadCall("encoding_format is neither float nor base64", "encoding_format")
    if said.get("dimensions") not in (None, size):
        raise BadCall(f"the vectors of this model have {size} dimensions, and no others", "dimensions", "unsupported_by_model")
    return EmbeddingsCall(texts, form == "base64")


def answer(name: str, vectors: Sequence[Any], tokens: int, is_base64: bool) -> bytes:
    """@param vectors: rows of a numpy array of f32"""
    data = [
        {"object": "embedding", "index": at, "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode() if is_base64 else vector.tolist()}
        for at, vector in enumerate(vectors)
    ]
    said = {"object": "list", "data": data, "model": name, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}
    return json.dumps(said, separators=(",", ":")).encode()
