"""A model that trains for ever, to be cancelled."""
import time

import torch


class SlowModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


def fl_train(model, env, out_dir, logger=None):
    time.sleep(3600)
    return {"weights": model.state_dict(), "samples": 1}
