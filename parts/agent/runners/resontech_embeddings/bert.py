"""BERT's encoder in f32. https://arxiv.org/abs/1810.04805, weights named as in Hugging Face's `BertModel`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from resontech_replica.served import LoadError

# Of what is no token of the text: its share of attention is nothing.
_MASKED = np.float32(-1e9)


@dataclass(frozen=True)
class _Layer:
    qkv: tuple[np.ndarray, np.ndarray]
    out: tuple[np.ndarray, np.ndarray]
    out_norm: tuple[np.ndarray, np.ndarray]
    up: tuple[np.ndarray, np.ndarray]
    down: tuple[np.ndarray, np.ndarray]
    down_norm: tuple[np.ndarray, np.ndarray]


class Bert:
    def __init__(self, config: dict[str, Any], weights: dict[str, np.ndarray]):
        """@raise LoadError"""
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu" or config.get("position_embedding_type", "absolute") != "absolute":
            raise LoadError(f"the model is of type {config.get('model_type')!r}, and bert with gelu and absolute positions is served")
        self._weights = {name.removeprefix("bert."): value for name, value in weights.items()}
        self.size = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = np.float32(config["layer_norm_eps"])
        self._words = self._of("embeddings.word_embeddings.weight")
        self._positions = self._of("embeddings.position_embeddings.weight")
        self._type = self._of("embeddings.token_type_embeddings.weight")[0]
        self._norm = self._pair("embeddings.LayerNorm", transposed=False)
        self._layers = [self._layer(f"encoder.layer.{number}") for number in range(int(config["num_hidden_layers"]))]
        self.max_tokens = len(self._positions)
        del self._weights

    def encode(self, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        """
        @param ids: of tokens, texts by places
        @param mask: 1 where there is a token
        @return: texts by places by size
        """
        said = self._normed(self._words[ids] + self._positions[: ids.shape[1]] + self._type, self._norm)
        unseen = np.where(mask[:, None, None, :] > 0, np.float32(0), _MASKED)
        for layer in self._layers:
            said = self._normed(said + _linear(self._attended(said, unseen, layer), layer.out), layer.out_norm)
            said = self._normed(said + _linear(_gelu(_linear(said, layer.up)), layer.down), layer.down_norm)
        return said

    def _attended(self, said: np.ndarray, unseen: np.ndarray, layer: _Layer) -> np.ndarray:
        texts, places, size = said.shape
        each = size // self._heads
        parts = _linear(said, layer.qkv).reshape(texts, places, 3, self._heads, each).transpose(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].swapaxes(-1, -2) / np.float32(np.sqrt(each)) + unseen
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        return (scores @ parts[2]).transpose(0, 2, 1, 3).reshape(texts, places, size)

    def _normed(self, said: np.ndarray, norm: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        centred = said - said.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        return centred / spread * norm[0] + norm[1]

    def _layer(self, name: str) -> _Layer:
        parts = [self._pair(f"{name}.attention.self.{part}") for part in ("query", "key", "value")]
        return _Layer(
            qkv=(np.concatenate([weight for weight, _ in parts], axis=1), np.concatenate([bias for _, bias in parts])),
            out=self._pair(f"{name}.attention.output.dense"),
            out_norm=self._pair(f"{name}.attention.output.LayerNorm", transposed=False),
            up=self._pair(f"{name}.intermediate.dense"),
            down=self._pair(f"{name}.output.dense"),
            down_norm=self._pair(f"{name}.output.LayerNorm", transposed=False),
        )

    def _pair(self, name: str, transposed: bool = True) -> tuple[np.ndarray, np.ndarray]:
        weight = self._of(f"{name}.weight")
        return np.ascontiguousarray(weight.T) if transposed else weight, self._of(f"{name}.bias")

    def _of(self, name: str) -> np.ndarray:
        found = self._weights.get(name)
        if found is None:
            raise LoadError(f"the weights have no {name}")
        return found


def _linear(said: np.ndarray, pair: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    # As one product: numpy would go through all weights for each text.
    flat = said.reshape(-1, said.shape[-1]) @ pair[0] + pair[1]
    return flat.reshape(*said.shape[:-1], -1)


def _gelu(said: np.ndarray) -> np.ndarray:
    return np.float32(0.5) * said * (1 + _erf(said * np.float32(np.sqrt(0.5))))


def _erf(said: np.ndarray) -> np.ndarray:
    """Within 1.5e-7: Abramowitz and Stegun 7.1.26, which numpy does not have."""
    size = np.abs(said)
    t = 1 / (1 + np.float32(0.3275911) * size)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(said) * (1 - poly * np.exp(-size * size)).astype(np.float32)
