"""HTTP of one replica: `POST /predict`, `GET /health`, on its own network alone. The gateway before it knows keys and limits."""

import json
import socketserver
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Optional

from resontech_replica.calls import CallsUnderWay

from .answer import BadAnswer, answer_bytes
from .body import BadBody, predictor_bytes
from .load import Predictor
from .spec import PredictorSpec
from .tensors import MEDIA_TYPE as TENSORS, tensors_bytes, wants_tensors

_MAX_BODY_BYTES = 1024 * 1024 * 1024
# Of silence while a body comes.
_SILENT_S = 60
_JSON = "application/json"


class ReplicaServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, spec: PredictorSpec, predictor: Predictor):
        super().__init__(("0.0.0.0", spec.port), _Handler)
        self.spec = spec
        self.predictor = predictor
        self.most = spec.max_ongoing_requests
        self.places = threading.BoundedSemaphore(spec.max_ongoing_requests)
        self.calls = CallsUnderWay()

    def handle_error(self, request, client_address):
        """A client that hung up is no fault of anybody's here."""

    def server_bind(self):
        # Not HTTPServer's own: it looks its host name up, and there is nobody to ask.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SILENT_S
    server: ReplicaServer

    def do_GET(self) -> None:
        if self.path != "/health":
            return self._refuse(404, "not_found", "there is nothing here")
        try:
            self._answer(200, json.dumps(self.server.predictor.health()).encode())
        except Exception as error:
            traceback.print_exc()
            self._refuse(503, "unhealthy", _headline(error))

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        if self.path != "/predict":
            return self._refuse(404, "not_found", "there is nothing here")
        if not self.server.places.acquire(blocking=False):
            return self._refuse(503, "busy", "the replica has as many requests as it takes", {"Retry-After": "1"})
        try:
            data = predictor_bytes(self.headers.get("Content-Type"), body)
            as_tensors = wants_tensors(self.headers.get("Accept"))
            encode = tensors_bytes if as_tensors else answer_bytes
            with self.server.calls.counted():
                answer = encode(self.server.predictor.predict(data), self.server.spec.max_answer_bytes)
        except BadBody as error:
            self._refuse(400, "invalid_request", str(error))
        except BadAnswer as error:
            self._refuse(500, "invalid_answer", str(error))
        except Exception as error:
            traceback.print_exc()
            self._refuse(500, "predictor_exception", _headline(error))
        else:
            self._answer(200, answer, content_type=TENSORS if as_tensors else _JSON)
        finally:
            self.server.places.release()

    def _body(self) -> Optional[bytes]:
        """Null where the request was refused."""
        said = self.headers.get("Content-Length")
        if said is None or not said.isdecimal():
            self.close_connection = True
            self._refuse(411, "length_required", "the length of the body is not said")
            return None
        length = int(said)
        if length > _MAX_BODY_BYTES:
            self.close_connection = True
            self._refuse(413, "body_too_large", f"at most {_MAX_BODY_BYTES} bytes are taken")
            return None
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return None
        return body

    def _refuse(self, status: int, kind: str, message: str, more: Optional[dict] = None) -> None:
        error = {"type": kind, "message": message[:1000], "request_id": self.headers.get("X-Request-Id")}
        self._answer(status, json.dumps({"error": error}).encode(), more)

    def _answer(self, status: int, body: bytes, more: Optional[dict] = None, content_type: str = _JSON) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Replica-Id", self.server.spec.replica)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """What a replica prints is the user's: requests are on record elsewhere."""


def _headline(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
