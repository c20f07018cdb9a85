"""Composition: the spec, and the process with the user's class."""

from pathlib import Path

from resontech_replica.run_served import run_served
from resontech_replica.served_process import ServedProcess

from .spec import read_spec


def main(root: Path = Path("/")) -> int:
    def start() -> ServedProcess:
        spec = read_spec(root / "rt/job/predictor.json")
        return ServedProcess("resontech_predictor.serving", root, spec.call_limit_s)

    return run_served(root, start)
