/**
 * A federated image classifier that runs as it is, so that a person sees rounds, sites and curves before anything is written. Its pictures are
 * drawn by the job's own code, for each site in another way: nothing is downloaded, and no picture is uploaded.
 */

const MODEL = `"""Tells circles, squares and triangles apart. Each site has pictures of its own, which never leave it.

fl_train is called once a round, with the model that all sites have learned together.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import nn

SHAPES = ("circle", "square", "triangle")
SIDE = 28
SEED = 7
EPOCHS = 2


class ShapesNet(nn.Module):
    """Two convolutions and two linear layers. Input (n, 1, 28, 28), output a figure for each shape."""

    def __init__(self):
        super().__init__()
        # The first model of all sites is the same on every run.
        torch.manual_seed(SEED)
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(16 * 7 * 7, 32),
            nn.ReLU(),
            nn.Linear(32, len(SHAPES)),
        )

    def forward(self, pictures):
        return self.layers(pictures)


def draw(shape, ink, ground, random):
    """One noisy picture. To train on pictures of yours, read them from the shard instead."""
    size = random.uniform(6, 10)
    x, y = random.uniform(size, SIDE - size, 2)
    rows, columns = np.mgrid[:SIDE, :SIDE]
    across, down = np.abs(columns - x), rows - y
    inside = {
        "circle": across**2 + down**2 <= size**2,
        "square": np.maximum(across, np.abs(down)) <= 0.85 * size,
        "triangle": (down <= 0.8 * size) & (across <= 0.6 * (down + size)),
    }[shape]
    return np.where(inside, ink, ground) + random.normal(0, 0.1, (SIDE, SIDE))


def draw_many(count, shares, ink, ground, seed):
    random = np.random.default_rng(seed)
    labels = random.choice(len(SHAPES), size=count, p=shares)
    pictures = np.stack([draw(SHAPES[label], ink, ground, random) for label in labels])
    return torch.from_numpy(pictures.astype(np.float32))[:, None], torch.from_numpy(labels)


@cache
def own_pictures(data_root):
    """What this site trains on: site.json of its shard says how they look."""
    [file] = sorted(Path(data_root).rglob("site.json"))
    return draw_many(**json.loads(file.read_text()))


@cache
def test_pictures():
    """Pictures as both sites have them, in equal shares, that no site trains on."""
    equal = [1 / 3] * 3
    clear = draw_many(150, equal, ink=1.0, ground=-1.0, seed=100)
    faint = draw_many(150, equal, ink=0.5, ground=-0.5, seed=200)
    return torch.cat([clear[0], faint[0]]), torch.cat([clear[1], faint[1]])


def accuracy(model, pictures, labels):
    model.eval()
    with torch.no_grad():
        return (model(pictures).argmax(1) == labels).float().mean().item()


def fl_train(model, round_number, site, data_root):
    """Judges the common model, then trains it on this site's pictures. Returns how many these are."""
    judged = accuracy(model, *test_pictures())
    # A line that begins so becomes a point of a curve on the job's page.
    print("RT_METRIC " + json.dumps({"round": round_number, "accuracy": round(judged, 4)}), flush=True)

    pictures, labels = own_pictures(data_root)
    torch.manual_seed(SEED + 1000 * round_number + sum(site.encode()))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    model.train()
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(labels)).split(32):
            optimizer.zero_grad()
            loss = loss_of(model(pictures[chosen]), labels[chosen])
            loss.backward()
            optimizer.step()
    print("RT_METRIC " + json.dumps({"round": round_number, "loss": round(loss.item(), 4)}), flush=True)
    return len(labels)
`;

const EXECUTOR = `"""What runs at each site: it gives the common model to fl_train, and sends back what that learned."""

import torch
from nvflare.apis.dxo import DXO, DataKind, MetaKey, from_shareable
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import make_reply
from nvflare.app_common.app_constant import AppConstants

from model_def import ShapesNet, fl_train


class ShapesExecutor(Executor):
    def __init__(self, data_root):
        super().__init__()
        self.data_root = data_root

    def execute(self, task_name, shareable, fl_ctx, abort_signal):
        if task_name != AppConstants.TASK_TRAIN:
            return make_reply(ReturnCode.TASK_UNKNOWN)
        model = ShapesNet()
        weights = from_shareable(shareable).data
        model.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
        round_number = shareable.get_header(AppConstants.CURRENT_ROUND, 0)
        count = fl_train(model, round_number, fl_ctx.get_identity_name(), self.data_root)
        learned = {name: value.numpy() for name, value in model.state_dict().items()}
        # Who has more pictures counts for more in the mean.
        meta = {MetaKey.NUM_STEPS_CURRENT_ROUND: count}
        return DXO(DataKind.WEIGHTS, data=learned, meta=meta).to_shareable()
`;

const PERSISTOR = `"""Keeps the common model of each round. NVFlare's own way will do."""

from nvflare.app_opt.pt.file_model_persistor import PTFileModelPersistor


class ShapesPersistor(PTFileModelPersistor):
    pass
`;

const ROUNDS = 6;
const CLIENT_CONFIG = {
  format_version: 2,
  executors: [
    {
      tasks: ["train"],
      executor: {
        path: "custom_client_executor.ShapesExecutor",
        args: { data_root: "/app/payload" },
      },
    },
  ],
  ...{ task_data_filters: [], task_result_filters: [], components: [] },
};
const SERVER_CONFIG = {
  format_version: 2,
  server: { heart_beat_timeout: 600 },
  ...{ task_data_filters: [], task_result_filters: [] },
  components: [
    {
      id: "persistor",
      path: "custom_persistor.ShapesPersistor",
      args: { model: { path: "model_def.ShapesNet", args: {} } },
    },
    {
      id: "aggregator",
      path: "nvflare.app_common.aggregators.intime_accumulate_model_aggregator.InTimeAccumulateWeightedAggregator",
      args: { expected_data_kind: "WEIGHTS" },
    },
    {
      id: "shareable_generator",
      path: "nvflare.app_common.shareablegenerators.full_model_shareable_generator.FullModelShareableGenerator",
      args: {},
    },
  ],
  workflows: [
    {
      id: "scatter_and_gather",
      path: "nvflare.app_common.workflows.scatter_and_gather.ScatterAndGather",
      args: {
        ...{ min_clients: 2, num_rounds: ROUNDS, start_round: 0, train_timeout: 0 },
        ...{ wait_time_after_min_received: 10, train_task_name: "train" },
        ...{ aggregator_id: "aggregator", persistor_id: "persistor" },
        shareable_generator_id: "shareable_generator",
      },
    },
  ],
};
const META = {
  ...{ name: "image-classifier", resource_spec: {}, deploy_map: { app: ["@ALL"] } },
  min_clients: 2,
};

const asJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;

export const IMAGE_CLASSIFIER = {
  name: "image classifier",
  rounds: ROUNDS,
  /** The file that a person changes first. */
  main: "scripts/model_def.py",
  /** By path below the job's folder. */
  files: {
    "configs/config_fed_client.json": asJson(CLIENT_CONFIG),
    "configs/config_fed_server.json": asJson(SERVER_CONFIG),
    "configs/meta.json": asJson(META),
    "requirements/requirements.txt": "torch\nnvflare\nnumpy\n",
    "scripts/custom_client_executor.py": EXECUTOR,
    "scripts/custom_persistor.py": PERSISTOR,
    "scripts/model_def.py": MODEL,
  },
  /** By name of the shard, what its zip holds: one site has clear shapes and few triangles, the other faint ones and few circles. */
  shards: {
    "site-1.zip": {
      "site.json": asJson({
        ...{ count: 600, shares: [0.6, 0.3, 0.1], ink: 1, ground: -1, seed: 1 },
      }),
    },
    "site-2.zip": {
      "site.json": asJson({
        ...{ count: 600, shares: [0.1, 0.3, 0.6], ink: 0.5, ground: -0.5, seed: 2 },
      }),
    },
  },
} as const;
