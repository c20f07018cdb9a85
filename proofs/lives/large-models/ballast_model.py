"""A model of as many megabytes as it is told, of which each round moves every value: what is large here is what travels, is added and saved."""

import json

import torch


class BallastModel(torch.nn.Module):
    def __init__(self, megabytes: int = 1):
        super().__init__()
        # A hundred tensors, as models have layers: nothing is one block.
        size = megabytes * 10_000 // 4
        self.layers = torch.nn.ParameterList([torch.nn.Parameter(torch.zeros(size), requires_grad=False) for _ in range(100)])

    def forward(self, x):
        return x


def fl_train(model, env, out_dir, logger=None):
    with torch.no_grad():
        for layer in model.layers:
            layer += 1
    logger("RT_METRIC " + json.dumps({"first": float(model.layers[0][0]), "last": float(model.layers[-1][-1])}))
    return {"weights": model.state_dict(), "samples": 1}
