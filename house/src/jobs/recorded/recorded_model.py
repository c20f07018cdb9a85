"""A federated job that keeps a record of itself: who ran when, in which round, and what the model it was given had been through.

Each site says twice a second that it is alive, on the host's own clock since boot: two instances of one site that overlap would show. The
model is a count of the rounds that it was trained in: a model that was lost and begun anew would show as well.
"""

import json
import time
import uuid

import torch

INSTANCE = uuid.uuid4().hex
TICK_S = 0.5


class RecordedModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rounds = torch.nn.Parameter(torch.zeros(1), requires_grad=False)

    def forward(self, x):
        return x + self.rounds


def fl_train(model, env, out_dir, logger=None):
    """`EPOCHS` ticks, then one round more in the model."""
    seen = float(model.rounds)
    for _ in range(int(env["EPOCHS"])):
        record = {"instance": INSTANCE, "at": time.clock_gettime(time.CLOCK_BOOTTIME), "round": int(env["CURRENT_ROUND"]), "seen": seen}
        logger("RT_METRIC " + json.dumps(record))
        time.sleep(TICK_S)
    with torch.no_grad():
        model.rounds += 1
    return {"weights": model.state_dict(), "samples": 1}
