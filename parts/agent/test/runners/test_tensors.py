"""Arrays that a predictor returned, as one safetensors file; read back by the real safetensors, with real numpy and torch."""

import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load as load_numpy
from safetensors.torch import load as load_torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_predictor.answer import BadAnswer  # noqa: E402
from resontech_predictor.tensors import tensors_bytes, wants_tensors  # noqa: E402

MOST = 1_000_000
TORCH_TYPES = (
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2),
)


def metadata_of(file: bytes) -> dict:
    (size,) = struct.unpack("<Q", file[:8])
    return {name: json.loads(text) for name, text in json.loads(file[8 : 8 + size]).get("__metadata__", {}).items()}


class Tensors(unittest.TestCase):
    def test_arrays_of_numpy_are_read_back_as_they_were(self):
        returned = {
            "logits": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4),
            "turned": np.arange(6, dtype=np.int16).reshape(2, 3).T,
            "big": np.arange(3, dtype=">f8"),
            "one": np.float16(0.5),
            "none": np.zeros((0, 4), dtype=np.uint8),
            "mask": np.array([True, False]),
            "not a number": np.array([np.nan, np.inf], dtype=np.float32),
        }
        read = load_numpy(tensors_bytes(returned, MOST))
        self.assertEqual(set(read), set(returned))
        for name, array in returned.items():
            with self.subTest(name):
                self.assertEqual(read[name].dtype, np.asarray(array).dtype.newbyteorder("="))
                np.testing.assert_array_equal(read[name], array)

    def test_whoever_gives_itself_to_numpy_is_an_array(self):
        class Eager:
            """As of TensorFlow and JAX."""

            dtype, shape = "its own", (2,)

            def __array__(self):
                return np.array([1.5, 2.5], dtype=np.float32)

        self.assertEqual(load_numpy(tensors_bytes({"a": Eager()}, MOST))["a"].tolist(), [1.5, 2.5])

    def test_tensors_of_torch_are_read_back_as_they_were(self):
        returned = {str(kind): torch.tensor([[0, 1], [1, 0], [1, 1]]).to(kind) for kind in TORCH_TYPES}
        returned |= {
            "turned": torch.arange(6.0).reshape(2, 3).T,
            "learned": torch.ones(2, requires_grad=True),
            "negated": torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
            "one": torch.tensor(7),
            "none": torch.zeros(0, 3),
        }
        read = load_torch(tensors_bytes(returned, MOST))
        self.assertEqual(set(read), set(returned))
        for name, tensor in returned.items():
            with self.subTest(name):
                self.assertEqual((read[name].dtype, read[name].shape), (tensor.dtype, tensor.shape))
                self.assertTrue(torch.equal(read[name].float(), tensor.detach().float()))

    def test_what_holds_no_numbers_stands_as_json_beside_them(self):
        file = tensors_bytes({"boxes": {"xy": torch.ones(2), "of": "cat"}, "labels": np.array(["cat", "dog"]), "more": {}, "count": 2}, MOST)
        self.assertEqual(set(load_torch(file)), {"boxes.xy"})
        self.assertEqual(metadata_of(file), {"boxes.of": "cat", "labels": ["cat", "dog"], "more": {}, "count": 2})

    def test_an_answer_without_arrays_is_a_file_without_tensors(self):
        self.assertEqual(load_torch(tensors_bytes({"said": "ä"}, MOST)), {})
        self.assertEqual(load_torch(tensors_bytes({}, MOST)), {})

    def test_a_file_on_disk_opens_in_part(self):
        path = Path(self.enterContext(tempfile.TemporaryDirectory())) / "a.safetensors"
        path.write_bytes(tensors_bytes({"a": torch.ones(3, dtype=torch.uint8), "b": torch.arange(4.0)}, MOST))
        with safe_open(path, framework="pt") as opened:
            self.assertEqual(opened.get_slice("b")[1:3].tolist(), [1.0, 2.0])

    def test_what_is_no_answer(self):
        looped: dict = {}
        looped["self"] = looped
        for returned in (
            [np.ones(2)],
            {"a": np.ones(200_000)},
            {"a": torch.ones(300_000)},
            {"a": "x" * MOST},
            {"a": np.ones(2, dtype=np.complex64)},
            {"a": torch.ones(2, device="meta")},
            {"a": torch.ones(2).to_sparse()},
            {"a": object()},
            {1: np.ones(2)},
            {"__metadata__": np.ones(2)},
            {"a.b": np.ones(2), "a": {"b": 1}},
            {"a": float("nan")},
            looped,
        ):
            with self.subTest(str(returned)[:60]), self.assertRaises(BadAnswer):
                tensors_bytes(returned, MOST)


class Accepts(unittest.TestCase):
    def test_who_gets_tensors(self):
        tensors = "application/vnd.safetensors"
        for accept, wanted in (
            (None, False),
            ("*/*", False),
            ("application/json", False),
            (tensors, True),
            ("Application/VND.safetensors;q=0.5 , text/html", True),
            (f"{tensors}, application/json;q=0.9", True),
            (f"{tensors};q=0.1, application/json", False),
            (f"{tensors};q=0", False),
            (f"{tensors};q=much", False),
        ):
            with self.subTest(accept):
                self.assertEqual(wants_tensors(accept), wanted)


if __name__ == "__main__":
    unittest.main()
