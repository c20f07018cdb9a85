"""A model whose training raises: what a researcher's typo looks like to the platform."""
import torch


class FailingModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


def fl_train(model, env, out_dir, logger=None):
    raise ValueError("the label column is missing")
