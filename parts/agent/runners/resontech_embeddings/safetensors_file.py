"""Weights in safetensors, as arrays of f32. https://github.com/huggingface/safetensors#format"""

import json
import struct
from pathlib import Path

import numpy as np

from resontech_replica.served import LoadError

_MAX_HEADER_BYTES = 100_000_000
_TYPES = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}


def read_safetensors(file: Path) -> dict[str, np.ndarray]:
    """
    Tensors of whole numbers are left out.

    @raise LoadError, OSError
    """
    size = file.stat().st_size
    with open(file, "rb") as opened:
        start = opened.read(8)
        header_bytes = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if header_bytes > min(_MAX_HEADER_BYTES, size - 8):
            raise LoadError(f"{file.name} is no safetensors file")
        try:
            header = json.loads(opened.read(header_bytes))
        except ValueError as error:
            raise LoadError(f"the header of {file.name} is no JSON: {error}") from error
    data = np.memmap(file, dtype=np.uint8, mode="r", offset=8 + header_bytes)
    return {name: _tensor(file, data, name, said) for name, said in header.items() if name != "__metadata__" and said.get("dtype") in _TYPES}


def _tensor(file: Path, data: np.ndarray, name: str, said: dict) -> np.ndarray:
    begin, end = said["data_offsets"]
    kind = _TYPES[said["dtype"]]
    if not 0 <= begin <= end <= data.size or end - begin != int(np.prod(said["shape"], dtype=np.int64)) * kind.itemsize:
        raise LoadError(f"{file.name}: the place of {name} is not in the file")
    raw = data[begin:end].view(kind).reshape(said["shape"])
    if said["dtype"] == "BF16":
        return (raw.astype(np.uint32) << 16).view(np.float32)
    return np.asarray(raw, dtype=np.float32)
