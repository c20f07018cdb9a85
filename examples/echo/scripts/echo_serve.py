"""The smallest predictor: it says what it got."""


class Echo:
    def __init__(self, prefix: str) -> None:
        """Called once for each replica, with `init_args` of inference.yaml."""
        self.prefix = prefix

    def predict(self, data: bytes) -> dict:
        """Called once for each request; what it returns is the answer, as JSON."""
        return {"said": self.prefix + data.decode("utf-8", "replace"), "bytes": len(data)}
