"""Composition: the spec, and the process with the model."""

from pathlib import Path

from resontech_replica.run_served import run_served
from resontech_replica.served_process import ServedProcess
from resontech_runner.environment import cpu_quota

from .spec import read_spec


def main(root: Path = Path("/")) -> int:
    def start() -> ServedProcess:
        spec = read_spec(root / "rt/job/embeddings.json")
        # More threads than the quota thrash: the library would start one for each core of the host.
        threads = {"OPENBLAS_NUM_THREADS": str(cpu_quota()), "TOKENIZERS_PARALLELISM": "false"}
        return ServedProcess("resontech_embeddings.serving", root, spec.call_limit_s, threads)

    return run_served(root, start)
