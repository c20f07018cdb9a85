"""A small CNN on tensors of a shard, fed by a data loader with workers of its own, as the public training examples are written."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self, num_classes: int = 10, dropout: float = 0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(dropout), nn.Linear(8 * 14 * 14, num_classes)
        )

    def forward(self, images):
        return self.layers(images)


def fl_train(model, env, out_dir, logger=None):
    saved = torch.load(os.path.join(env["DATA_ROOT"], "train.pt"), map_location="cpu")
    data = TensorDataset(saved["x"], saved["y"])
    loader = DataLoader(data, batch_size=int(env["BATCH_SIZE"]), shuffle=True, num_workers=int(env["num_workers"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=float(env["LR"]), weight_decay=float(env["weight_decay"]))
    loss_of = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(int(env["EPOCHS"])):
        for images, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
        if logger is not None:
            logger.info("epoch %d: loss %.4f", epoch + 1, loss.item())
    return {"weights": {name: value.detach().cpu() for name, value in model.state_dict().items()}, "samples": len(data)}
