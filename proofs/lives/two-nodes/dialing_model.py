"""A model whose training looks for a way out: it dials what its shard names and tells, as a metric, what took the connection."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor

import torch

TIMEOUT_S = 3.0


class DialingModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x)


def gateways():
    """The host's end of each network that this container has a route to: its first address."""
    with open("/proc/net/route") as table:
        rows = [line.split() for line in table.readlines()[1:]]
    networks = [bytes.fromhex(row[1])[::-1] for row in rows if row[7] != "00000000"]
    return [socket.inet_ntoa(network[:3] + bytes([network[3] + 1])) for network in networks]


def dial(address):
    host, port = address
    try:
        socket.create_connection((host, port), timeout=TIMEOUT_S).close()
        return "connected"
    except OSError as error:
        return error.strerror or type(error).__name__


def fl_train(model, env, out_dir, logger=None):
    with open(os.path.join(env["DATA_ROOT"], "dial.json")) as file:
        asked = json.load(file)
    own = gateways()
    addresses = [(host, port) for host in own + asked["hosts"] for port in asked["ports"]]
    addresses += [(host, port) for host, port in asked["elsewhere"]]
    with ThreadPoolExecutor(max_workers=16) as pool:
        results = list(pool.map(dial, addresses))
    connected = [f"{'gateway' if host in own else host}:{port}" for (host, port), how in zip(addresses, results) if how == "connected"]
    words = {how: results.count(how) for how in sorted(set(results))}
    logger("RT_METRIC " + json.dumps({"gateways": own, "dialled": len(addresses), "connected": connected, "results": words}))
    return {"weights": model.state_dict(), "samples": 1}


def fl_validate(model, env, out_dir, logger=None):
    return {"accuracy": 0.0, "samples": 1}
