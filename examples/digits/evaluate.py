"""Accuracy of a trained global model on digits that no site has seen.

usage: evaluate.py --checkpoint FILE --data held_out.npz  →  one JSON line with `accuracy`
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from digits_model import DigitsCNN, accuracy


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()

    # NVFlare's persistor saves the weights beside its own notes.
    saved = torch.load(arguments.checkpoint, map_location="cpu", weights_only=True)
    model = DigitsCNN()
    model.load_state_dict(saved["model"])
    held_out = np.load(arguments.data)
    images = torch.from_numpy(held_out["images"].astype(np.float32) / 16.0)[:, None]
    labels = torch.from_numpy(held_out["labels"].astype(np.int64))
    print(json.dumps({"accuracy": round(accuracy(model, images, labels), 4), "digits": len(labels)}))


if __name__ == "__main__":
    main()
