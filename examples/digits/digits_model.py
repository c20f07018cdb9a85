"""A small CNN for 8×8 digits, trained by federated averaging.

Uploaded as it is: every worker imports this file and calls `fl_train` once a round with the global model.
"""

import glob
import json
import os

import numpy as np
import torch
from torch import nn

SEED = 20


class DigitsCNN(nn.Module):
    """Two convolutions and two linear layers, 38,000 parameters; input `(n, 1, 8, 8)` in [0, 1], output ten logits."""

    def __init__(self, hidden: int = 64):
        super().__init__()
        # The server draws the first global model: the same one on every run.
        torch.manual_seed(SEED)
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Linear(32 * 4 * 4, hidden), nn.ReLU(), nn.Linear(hidden, 10))

    def forward(self, images):
        return self.classify(self.features(images))


def load_shard(data_root: str):
    """All `*.npz` files under `data_root`, with their last fifth kept aside for validation."""
    files = sorted(glob.glob(os.path.join(data_root, "**", "*.npz"), recursive=True))
    if not files:
        raise FileNotFoundError(f"no .npz file under {data_root}")
    images = np.concatenate([np.load(file)["images"] for file in files]).astype(np.float32) / 16.0
    labels = np.concatenate([np.load(file)["labels"] for file in files]).astype(np.int64)
    cut = len(labels) * 4 // 5
    tensors = [torch.from_numpy(array) for array in (images[:cut, None], labels[:cut], images[cut:, None], labels[cut:])]
    return tensors


def accuracy(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def fl_train(model, env, out_dir, logger=None):
    """One round: judge the incoming global model, then train it on this site's shard."""
    current_round = int(env["CURRENT_ROUND"])
    # The same seed on every run makes the accuracies repeatable; rounds and sites still differ.
    site_seed = sum(env["SITE_NAME"].encode())
    torch.manual_seed(SEED + 1000 * current_round + site_seed)

    device = next(model.parameters()).device
    train_images, train_labels, held_images, held_labels = (t.to(device) for t in load_shard(env["DATA_ROOT"]))
    incoming = accuracy(model, held_images, held_labels)
    if logger:
        logger("RT_METRIC " + json.dumps({"round": current_round, "accuracy": round(incoming, 4)}))

    optimizer = torch.optim.SGD(model.parameters(), lr=env["LR"], momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    batch = int(env["BATCH_SIZE"])
    last_loss = 0.0
    model.train()
    for _ in range(int(env["EPOCHS"])):
        order = torch.randperm(len(train_labels), device=device)
        for start in range(0, len(order), batch):
            index = order[start : start + batch]
            optimizer.zero_grad()
            loss = loss_of(model(train_images[index]), train_labels[index])
            loss.backward()
            optimizer.step()
            last_loss = loss.item()
    if logger:
        logger({"type": "info", "msg": f"round {current_round}: trained on {len(train_labels)} digits, loss {last_loss:.4f}"})
    return {"weights": model.state_dict(), "samples": len(train_labels)}


def fl_validate(model, env, out_dir, logger=None):
    """Accuracy of the given model on this site's held-out fifth."""
    device = next(model.parameters()).device
    _, _, held_images, held_labels = (t.to(device) for t in load_shard(env["DATA_ROOT"]))
    return {"accuracy": accuracy(model, held_images, held_labels), "samples": len(held_labels)}
