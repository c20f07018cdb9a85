"""HTTP of one replica: `/v1/embeddings` and `/health`, on its own network alone. The gateway before it knows keys and limits."""

import json
import select
import socketserver
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Optional

from resontech_replica.bad_call import BadCall
from resontech_replica.calls import CallsUnderWay

from .call import answer, read_call
from .embedder import Embedder
from .spec import EmbeddingsSpec

# Of a caller that has something to send or to take.
_SILENT_S = 60


class EmbeddingsServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, spec: EmbeddingsSpec, embedder: Embedder):
        super().__init__(("0.0.0.0", spec.port), _Handler)
        self.spec = spec
        self.embedder = embedder
        self.calls = CallsUnderWay()
        self.most = spec.most
        self.places = threading.BoundedSemaphore(spec.most)

    def handle_error(self, request, client_address):
        """A client that hung up is no fault of anybody's here."""

    def server_bind(self):
        # Not HTTPServer's own: it looks its host name up, and there is nobody to ask.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SILENT_S
    server: EmbeddingsServer

    def do_GET(self) -> None:
        if self.path != "/health":
            return self._refuse(404, "not_found", "there is nothing here")
        self._answer(200, b'{"status":"ok"}')

    def do_POST(self) -> None:
        body = self._body()
        if body is None:
            return
        if self.path != "/v1/embeddings":
            return self._refuse(404, "not_found", "this model embeds texts: call /v1/embeddings")
        try:
            call = read_call(body, self.server.spec.max_inputs, self.server.embedder.size)
        except BadCall as error:
            return self._refuse(400, error.kind, str(error), param=error.param)
        if not self.server.places.acquire(blocking=False):
            return self._refuse(503, "busy", "the replica has as many calls as it takes", {"Retry-After": "1"})
        try:
            with self.server.calls.counted():
                found = self.server.embedder.embed(call.texts, self._is_there)
            if found is not None:
                self._answer(200, answer(self.server.spec.name, *found, call.is_base64))
        except BadCall as error:
            self._refuse(400, error.kind, str(error), param=error.param)
        except Exception as error:
            # Never what was asked: that is the caller's alone.
            print("".join(traceback.format_tb(error.__traceback__)), type(error).__name__, flush=True)
            self._refuse(500, "server_error", "the texts could not be embedded")
        finally:
            self.server.places.release()

    def _is_there(self) -> bool:
        """A caller that has hung up wants no vectors."""
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP)
        if not poll.poll(0):
            return True
        self.close_connection = True
        return False

    def _body(self) -> Optional[bytes]:
        """Null where the request was refused."""
        said = self.headers.get("Content-Length")
        most = self.server.spec.max_body_bytes
        if said is None or not said.isdecimal() or int(said) > most:
            self.close_connection = True
            if said is None or not said.isdecimal():
                self._refuse(411, "length_required", "the length of the body is not said")
            else:
                self._refuse(413, "body_too_large", f"at most {most} bytes are taken")
            return None
        body = self.rfile.read(int(said))
        if len(body) < int(said):
            self.close_connection = True
            return None
        return body

    def _refuse(self, status: int, kind: str, message: str, more: Optional[dict] = None, param: Optional[str] = None) -> None:
        self._answer(status, json.dumps({"error": {"type": kind, "message": message[:1000], "param": param}}).encode(), more)

    def _answer(self, status: int, body: bytes, more: Optional[dict] = None) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Replica-Id", self.server.spec.replica)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """Requests are on record elsewhere."""
