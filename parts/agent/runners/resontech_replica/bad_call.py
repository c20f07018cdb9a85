from typing import Optional


class BadCall(Exception):
    """The request is none that the engine may see; the text is for the caller."""

    def __init__(self, message: str, param: Optional[str] = None, kind: str = "invalid_request_error"):
        """
        @param param: the field of the body that is meant
        @param kind: as the gateway knows it: parts/inference-gateway/src/openai/engine-refusal.ts
        """
        super().__init__(message)
        self.param = param
        self.kind = kind
