"""In the process with the user's class: see resontech_replica/served.py."""

from pathlib import Path

from resontech_replica.served import serve

from .load import Predictor
from .server import ReplicaServer
from .spec import read_spec


def main(root: Path, told: int) -> int:
    def load() -> ReplicaServer:
        spec = read_spec(root / "rt/job/predictor.json")
        return ReplicaServer(spec, Predictor.load(spec, root / "rt/job/scripts"))

    return serve(told, load)
