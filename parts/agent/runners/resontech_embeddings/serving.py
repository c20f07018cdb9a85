"""In the process with the model: see resontech_replica/served.py."""

from pathlib import Path

from resontech_replica.served import LoadError, serve

from .embedder import Embedder
from .server import EmbeddingsServer
from .spec import read_spec


def main(root: Path, told: int) -> int:
    def load() -> EmbeddingsServer:
        spec = read_spec(root / "rt/job/embeddings.json")
        embedder = Embedder(spec.folder)
        # One real vector: that the weights were read shows nothing.
        if embedder.embed(["a"], lambda: True) is None:
            raise LoadError("the model gives no vector")
        return EmbeddingsServer(spec, embedder)

    return serve(told, load)
