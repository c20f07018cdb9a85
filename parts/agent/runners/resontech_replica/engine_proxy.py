"""HTTP of one replica, on its own network alone: what is a call of the OpenAI API reaches the engine, and nothing else does."""

import contextlib
import http.client
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Iterator, Optional

from .bad_call import BadCall
from .engine import Engine, EngineConnection
from .engine_calls import GETS, Dialect, EngineCalls, engine_calls, fields_of
from .engine_spec import EngineSpec
from .hang_ups import HangUps
from .joined_calls import JoinedCalls, Refused

# Of a caller that has something to send or to take.
_SILENT_S = 60
_PIECE_BYTES = 64 * 1024
_REFUSAL_BYTES = 64 * 1024
# The gateway knows of a call's end a moment before its place is free here.
_PLACE_S = 2


class EngineProxy(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, spec: EngineSpec, engine: Engine, dialect: Dialect):
        super().__init__(("0.0.0.0", spec.port), _Handler)
        self.spec = spec
        self.engine = engine
        self.dialect = dialect
        self.hang_ups = HangUps()
        self.places = threading.BoundedSemaphore(spec.slots)
        self.pieces = 0
        """Of answers that came from the engine."""
        self._calls: set[object] = set()

    @property
    def under_way(self) -> int:
        """Calls that the engine has."""
        return len(self._calls)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        call = object()
        self._calls.add(call)
        try:
            yield
        finally:
            self._calls.discard(call)

    def handle_error(self, request, client_address):
        """A client that hung up is no fault of anybody's here."""

    def server_bind(self):
        # Not HTTPServer's own: it looks its host name up, and there is nobody to ask.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _SILENT_S
    # A token is sent when it is there.
    disable_nagle_algorithm = True
    server: EngineProxy

    @property
    def asked_path(self) -> str:
        """As it was sent: the library's own leaves slashes out."""
        return self.requestline.split(" ")[1]

    def do_GET(self) -> None:
        path = GETS.get(self.asked_path)
        if path is None:
            return self._refuse(404, "not_found", "there is nothing here")
        self._lead("GET", path, None)

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            return
        fields = fields_of(self.asked_path, self.server.spec.allowed)
        if fields is None:
            return self._refuse(404, "not_found", "there is nothing here")
        try:
            calls = engine_calls(self.asked_path, raw, fields, self.server.dialect)
        except BadCall as error:
            return self._refuse(400, error.kind, str(error), param=error.param)
        if not self.server.places.acquire(timeout=_PLACE_S):
            return self._refuse(503, "busy", "the replica has as many calls as it takes", {"Retry-After": "1"})
        try:
            if calls.is_plain:
                self._lead("POST", self.asked_path, json.dumps(calls.parts[0].body).encode())
            else:
                self._lead_joined(calls)
        finally:
            self.server.places.release()

    def _lead(self, method: str, path: str, body: Optional[bytes]) -> None:
        try:
            connection = self.server.engine.connect()
        except OSError:
            return self._refuse(503, "unavailable", "the engine does not answer", {"Retry-After": "5"})
        try:
            with self.server.counted(), self.server.hang_ups.cut(connection.sock, self.connection):
                # The framing is ours; of the caller's headers none goes on.
                headers = {"Connection": "close", **({} if body is None else {"Content-Type": "application/json"})}
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                refusal = self.server.dialect.refusal
                if answer.status < 400 or refusal is None:
                    self._relay(answer)
                else:
                    told = refusal(answer.status, answer.read(_REFUSAL_BYTES))
                    self._refuse(answer.status, told.type, told.message, param=told.param)
        except (OSError, http.client.HTTPException):
            # The engine went away, or the caller did: what was begun can't be ended well.
            self.close_connection = True
        finally:
            connection.close()

    def _lead_joined(self, asked: EngineCalls) -> None:
        """Several calls of the engine, or one whose answer is another one for the caller."""
        joined = JoinedCalls(asked, self.asked_path, _CallerCalls(self), self.server.spec.slots - 1)
        try:
            if asked.is_stream:
                joined.stream(_ChunkedAnswer(self))
                self.wfile.write(b"0\r\n\r\n")
            else:
                self._send(200, json.dumps(joined.whole()).encode())
        except Refused as refused:
            refusal = self.server.dialect.refusal
            if refusal is None:
                return self._send(refused.status, refused.body)
            told = refusal(refused.status, refused.body)
            self._refuse(refused.status, told.type, told.message, param=told.param)
        except (OSError, http.client.HTTPException, ValueError):
            # As of a single call: what was begun can't be ended well.
            self.close_connection = True

    def _relay(self, answer: http.client.HTTPResponse) -> None:
        """Piece by piece, as soon as it comes."""
        length = answer.getheader("Content-Length")
        self._begin(answer.status, answer.getheader("Content-Type", "application/json"))
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", length)
        self.end_headers()
        left = None if length is None else int(length)
        while piece := answer.read1(_PIECE_BYTES):
            self.server.pieces += 1
            if left is None:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            else:
                left -= len(piece)
                self.wfile.write(piece)
        if left is None:
            self.wfile.write(b"0\r\n\r\n")
        elif left > 0:
            raise http.client.IncompleteRead(b"", left)

    def _body(self) -> Optional[bytes]:
        """Null where the request was refused."""
        said = self.headers.get("Content-Length")
        most = self.server.spec.max_body_bytes
        if said is None or not said.isdecimal():
            self.close_connection = True
            self._refuse(411, "length_required", "the length of the body is not said")
            return None
        if int(said) > most:
            self.close_connection = True
            self._refuse(413, "body_too_large", f"at most {most} bytes are taken")
            return None
        body = self.rfile.read(int(said))
        if len(body) < int(said):
            self.close_connection = True
            return None
        return body

    def _begin(self, status: int, content_type: str) -> None:
        self.send_response_only(status)
        self.send_header("Content-Type", content_type)
        self.send_header("X-Replica-Id", self.server.spec.replica)

    def _refuse(self, status: int, kind: str, message: str, more: Optional[dict] = None, param: Optional[str] = None) -> None:
        self._send(status, json.dumps({"error": {"type": kind, "message": message[:1000], "param": param}}).encode(), more)

    def _send(self, status: int, body: bytes, more: Optional[dict] = None) -> None:
        self._begin(status, "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments) -> None:
        """Requests are on record elsewhere."""


class _CallerCalls:
    """The engine, as the caller of one request has it."""

    def __init__(self, handler: _Handler):
        self._server = handler.server
        self._caller = handler.connection

    @contextlib.contextmanager
    def open(self) -> Iterator[EngineConnection]:
        with contextlib.closing(self._server.engine.connect()) as connection:
            with self._server.counted(), self._server.hang_ups.cut(connection.sock, self._caller):
                yield connection

    def has_room(self) -> bool:
        return self._server.under_way < self._server.spec.slots

    def note_piece(self) -> None:
        self._server.pieces += 1


class _ChunkedAnswer:
    def __init__(self, handler: _Handler):
        self._handler = handler

    def begin_stream(self) -> None:
        self._handler._begin(200, "text/event-stream")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()

    def send(self, event: bytes) -> None:
        self._handler.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
