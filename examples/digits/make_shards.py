"""Make the sample data: scikit-learn's 1,797 handwritten digits as two shards and a held-out set.

usage: make_shards.py --out DIR  →  DIR/shards/site-{1,2}.zip, DIR/held_out.npz
"""

import argparse
import io
import zipfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

HELD_OUT = 360
SHARDS = 2


def npz_bytes(images: np.ndarray, labels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, images=images, labels=labels)
    return buffer.getvalue()


def main(out_dir: Path) -> None:
    digits = load_digits()
    order = np.random.default_rng(7).permutation(len(digits.target))
    images = digits.images[order].astype(np.uint8)
    labels = digits.target[order].astype(np.uint8)

    (out_dir / "shards").mkdir(parents=True, exist_ok=True)
    (out_dir / "held_out.npz").write_bytes(npz_bytes(images[:HELD_OUT], labels[:HELD_OUT]))
    for index, rows in enumerate(np.array_split(np.arange(HELD_OUT, len(labels)), SHARDS), start=1):
        target = out_dir / "shards" / f"site-{index}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            # A fixed time stamp keeps the shard's digest the same from run to run.
            entry = zipfile.ZipInfo("digits/train.npz", date_time=(2026, 1, 1, 0, 0, 0))
            archive.writestr(entry, npz_bytes(images[rows], labels[rows]))
        print(f"{target}: {len(rows)} digits")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    main(parser.parse_args().out)
