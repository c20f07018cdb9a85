"""
Pure: what a predictor returned as one file in safetensors, for callers who want arrays as they are.
https://github.com/huggingface/safetensors#format

Neither numpy nor torch is imported: a predictor that returns arrays has brought its own.
"""

import ctypes
import json
import struct
from typing import Any, Callable, NamedTuple, Optional

from .answer import BadAnswer, json_bytes

MEDIA_TYPE = "application/vnd.safetensors"

# By the names that numpy and torch share; those of 8 bits after torch's.
_TYPES = {
    "bool": "BOOL",
    "uint8": "U8",
    "int8": "I8",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "uint16": "U16",
    "int16": "I16",
    "float16": "F16",
    "bfloat16": "BF16",
    "uint32": "U32",
    "int32": "I32",
    "float32": "F32",
    "uint64": "U64",
    "int64": "I64",
    "float64": "F64",
}
# Kinds of numpy: objects, texts, times.
_NO_NUMBERS = "OSUTMm"
_METADATA = "__metadata__"
_ALIGNED_TO = 8


class _Tensor(NamedTuple):
    name: str
    kind: str
    shape: list[int]
    size: int
    item_size: int
    read: Callable[[], bytes]


def wants_tensors(accept: Optional[str]) -> bool:
    """Where a caller names both forms, the one that it likes better; JSON where it names none."""
    liked = {MEDIA_TYPE: 0.0, "application/json": 0.0}
    for one in (accept or "").split(","):
        kind, *parameters = [part.strip().lower() for part in one.split(";")]
        if kind in liked:
            liked[kind] = _quality(parameters)
    return 0 < liked[MEDIA_TYPE] >= liked["application/json"]


def tensors_bytes(returned: Any, most: int) -> bytes:
    """
    Every array is a tensor of its key's name; those of a dict within have both keys, with a dot between. What is no array stands as JSON in the
    file's metadata.

    @param most: bytes of an answer
    @raise BadAnswer
    """
    if not isinstance(returned, dict):
        raise BadAnswer(f"predict returned {type(returned).__name__}, not dict")
    tensors: dict[str, _Tensor] = {}
    metadata: dict[str, str] = {}
    try:
        _sort(returned, "", tensors, metadata, most)
        # The widest first: each begins where its type may.
        ordered = sorted(tensors.values(), key=lambda tensor: (-tensor.item_size, tensor.name))
        header = _header(ordered, metadata)
        if len(header) + sum(tensor.size for tensor in ordered) > most:
            raise BadAnswer(f"predict returned more than {most} bytes of tensors")
        return b"".join([header, *(tensor.read() for tensor in ordered)])
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise BadAnswer(f"predict returned what can't be read as tensors: {error}") from error


def _sort(value: dict, within: str, tensors: dict[str, _Tensor], metadata: dict[str, str], most: int) -> None:
    for key, inner in value.items():
        if not isinstance(key, str):
            raise BadAnswer(f"predict returned the key {key!r}, which is no text")
        name = f"{within}{key}"
        if name == _METADATA or name in tensors or name in metadata:
            raise BadAnswer(f"predict returned two things of the name {name}, or one that the format keeps for itself")
        if _is_array(inner):
            tensors[name] = _tensor(name, inner)
        elif isinstance(inner, dict) and inner:
            _sort(inner, f"{name}.", tensors, metadata, most)
        else:
            metadata[name] = json_bytes(inner, most).decode()


def _is_array(value: Any) -> bool:
    """Not where it holds texts, times or objects: those stand as JSON."""
    is_array = hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "__array__")
    return is_array and getattr(value.dtype, "kind", "f") not in _NO_NUMBERS


def _tensor(name: str, value: Any) -> _Tensor:
    if hasattr(value, "data_ptr"):
        return _of_torch(name, value)
    # Of TensorFlow, JAX and the like: as numpy has it.
    array = value if hasattr(value, "tobytes") and hasattr(value, "nbytes") else value.__array__()
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    kind = _kind(name, array.dtype.name)
    return _Tensor(name, kind, list(array.shape), array.nbytes, array.dtype.itemsize, array.tobytes)


def _of_torch(name: str, value: Any) -> _Tensor:
    kind = _kind(name, str(value.dtype).removeprefix("torch."))
    size = value.numel() * value.element_size()

    def read() -> bytes:
        # Held by name: its memory is read by address.
        plain = value.detach().cpu().resolve_neg().contiguous()
        return ctypes.string_at(plain.data_ptr(), size) if size > 0 else b""

    return _Tensor(name, kind, list(value.shape), size, value.element_size(), read)


def _kind(name: str, said: str) -> str:
    kind = _TYPES.get(said)
    if kind is None:
        raise BadAnswer(f"{name} holds {said}, which no tensor of the format can")
    return kind


def _header(tensors: list[_Tensor], metadata: dict[str, str]) -> bytes:
    said: dict[str, Any] = {_METADATA: metadata} if metadata else {}
    at = 0
    for tensor in tensors:
        said[tensor.name] = {"dtype": tensor.kind, "shape": tensor.shape, "data_offsets": [at, at + tensor.size]}
        at += tensor.size
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNED_TO)
    return struct.pack("<Q", len(text)) + text


def _quality(parameters: list[str]) -> float:
    for one in parameters:
        if one.startswith("q="):
            try:
                return float(one[2:])
            except ValueError:
                return 0.0
    return 1.0
