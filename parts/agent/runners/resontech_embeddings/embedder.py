"""Texts to vectors: tokens, encoder, pooling, as the model's own files say."""

import json
import threading
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np
from tokenizers import Tokenizer

from resontech_replica.bad_call import BadCall
from resontech_replica.served import LoadError

from .bert import Bert
from .safetensors_file import read_safetensors

# So many tokens at a time, padding included: the caller's hang-up is seen between two batches.
_BATCH_TOKENS = 2_048


class Embedder:
    def __init__(self, folder: Path):
        """@raise LoadError, OSError"""
        config = _json(folder / "config.json")
        self._bert = Bert(config, read_safetensors(folder / "model.safetensors"))
        said = _json(folder / "sentence_bert_config.json") if (folder / "sentence_bert_config.json").exists() else {}
        self._most = min(int(said.get("max_seq_length") or self._bert.max_tokens), self._bert.max_tokens)
        self._tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
        self._tokenizer.no_padding()
        # A text that was cut would be found by its beginning alone.
        self._tokenizer.no_truncation()
        self._pooling = _pooling(folder)
        self._is_normed = _is_normed(folder)
        self._turn = threading.Lock()

    @property
    def size(self) -> int:
        return self._bert.size

    def embed(self, texts: Sequence[str], is_wanted: Callable[[], bool]) -> tuple[np.ndarray, int] | None:
        """
        @param is_wanted: asked before each batch
        @raise BadCall: a text is longer than the model reads
        @return: vectors in the order of the texts, and how many tokens they have; null where nobody wants them any more
        """
        encoded = [one.ids for one in self._tokenizer.encode_batch(list(texts))]
        for at, one in enumerate(encoded):
            if len(one) > self._most:
                raise BadCall(f"text {at} of input has {len(one)} tokens, and the model reads {self._most}", "input", "exceed_context_size_error")
        vectors = np.empty((len(texts), self.size), dtype=np.float32)
        # Those of a like length go together: little is padding.
        order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))
        for batch in _batches(order, encoded):
            if not is_wanted():
                return None
            with self._turn:
                vectors[batch] = self._vectors([encoded[at] for at in batch])
        return vectors, sum(map(len, encoded))

    def _vectors(self, encoded: Sequence[Sequence[int]]) -> np.ndarray:
        longest = max(map(len, encoded))
        ids = np.zeros((len(encoded), longest), dtype=np.int64)
        mask = np.zeros((len(encoded), longest), dtype=np.float32)
        for at, one in enumerate(encoded):
            ids[at, : len(one)] = one
            mask[at, : len(one)] = 1
        said = self._bert.encode(ids, mask)
        if self._pooling == "cls":
            pooled = said[:, 0]
        else:
            pooled = (said * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1e-9)
        if self._is_normed:
            pooled = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), 1e-12)
        return pooled.astype(np.float32)


def _batches(order: Sequence[int], encoded: Sequence[Sequence[int]]) -> list[list[int]]:
    batches: list[list[int]] = []
    for at in order:
        # The newest is the longest so far.
        if not batches or (len(batches[-1]) + 1) * len(encoded[at]) > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(at)
    return batches


def _pooling(folder: Path) -> str:
    file = folder / "1_Pooling/config.json"
    said = _json(file) if file.exists() else {"pooling_mode_mean_tokens": True}
    modes = [name for name, is_on in said.items() if name.startswith("pooling_mode_") and is_on is True]
    known = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
    if len(modes) != 1 or modes[0] not in known:
        raise LoadError(f"the model pools by {', '.join(modes) or 'nothing'}, and mean or cls is served")
    return known[modes[0]]


def _is_normed(folder: Path) -> bool:
    file = folder / "modules.json"
    said = _json(file) if file.exists() else []
    return any(str(module.get("type", "")).endswith(".Normalize") for module in said if isinstance(module, dict))


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LoadError(f"{file.name} is no JSON: {error}") from error
