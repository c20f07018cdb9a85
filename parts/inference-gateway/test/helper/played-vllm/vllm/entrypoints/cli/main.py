"""
Stands where vLLM's own command line does, and answers what a real one was recorded to answer (../../../../../fixtures/vllm.json, made by
record-vllm.py). It knows the real one's arguments, its Unix socket, its pace and its hang-ups; it has no model. A call that was not recorded fails.
"""

import http.server
import json
import os
import select
import socketserver
import sys
import threading
import time
from pathlib import Path

RECORDED = json.loads(Path(os.environ["PLAYED_VLLM"]).read_text(encoding="utf-8"))
PACE_S = float(os.environ.get("PLAYED_PACE_S", "0.005"))
FAULT = os.environ.get("PLAYED_FAULT", "")
# What the recorder asked for beside what a gateway lets through, and what a gateway adds.
ASIDE = ("cache_salt", "ignore_eos")
COUNT = "vllm:iteration_tokens_total_count{"

steps = 0
lock = threading.Lock()


def key(method, path, body):
    kept = None if body is None else {name: value for name, value in sorted(body.items()) if name not in ASIDE}
    return json.dumps([method, path, kept], sort_keys=True)


ANSWERS = {key(one["request"]["method"], one["request"]["path"], one["request"]["body"]): one["answer"] for one in RECORDED["recordings"]}


def step():
    global steps
    with lock:
        steps += 1


def is_left(connection):
    poll = select.poll()
    poll.register(connection, select.POLLRDHUP)
    return bool(poll.poll(0))


class Left(Exception):
    """Nobody waits any more."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    address_string = lambda self: ""  # noqa: E731

    def do_GET(self):
        if self.path == "/metrics":
            return self.tell_steps()
        self.answer(None)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        print("asked", self.path, raw.decode(), flush=True)
        self.answer(json.loads(raw))

    def answer(self, body):
        found = ANSWERS.get(key(self.command, self.path, body))
        if found is None:
            found = {"status": 599, "headers": {"content-type": "application/json"}, "pieces": ['{"error": {"message": "nobody recorded this"}}']}
        if FAULT == "broken" and body is not None and body.get("stream"):
            found = {**found, "pieces": RECORDED["brokenStream"]["pieces"]}
        try:
            tokens = 1 if body is None else body.get("max_tokens")
            self.play(found, tokens if isinstance(tokens, int) else 1)
        except (Left, OSError):
            self.close_connection = True
            print("aborted", self.path, flush=True)

    def play(self, found, tokens):
        is_chunked = "transfer-encoding" in found["headers"]
        if not is_chunked and found["status"] == 200:
            # An answer that comes as a whole takes its time, too.
            for _ in range(tokens):
                self.wait()
        self.send_response_only(found["status"])
        for name, value in found["headers"].items():
            self.send_header(name, value)
        self.end_headers()
        for piece in found["pieces"]:
            raw = piece.encode()
            if is_chunked:
                self.wait()
                raw = b"%x\r\n%s\r\n" % (len(raw), raw)
            self.wfile.write(raw)
        if is_chunked:
            self.wfile.write(b"0\r\n\r\n")
        if is_chunked and FAULT == "broken":
            # The server ends with its engine.
            os._exit(RECORDED["brokenStream"]["exitCode"])

    def wait(self):
        if FAULT == "hang" and steps > 3:
            threading.Event().wait()
        time.sleep(PACE_S)
        step()
        if is_left(self.connection):
            raise Left()

    def tell_steps(self):
        recorded = "".join(ANSWERS[key("GET", "/metrics", None)]["pieces"]).splitlines()
        lines = [f"{line.rsplit(' ', 1)[0]} {steps}.0" if line.startswith(COUNT) else line for line in recorded]
        raw = ("\n".join(lines) + "\n").encode()
        self.send_response_only(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        """As the real one: nothing of a call stands in its log."""


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 1024


def main():
    command, *said = sys.argv[1:]
    unknown = [one for one in said if one.startswith("--") and one.split("=", 1)[0] not in RECORDED["flags"]]
    if command != "serve" or unknown:
        sys.exit(f"vllm: error: unrecognized arguments: {' '.join(unknown)}")
    if FAULT.startswith("log:"):
        # Words of a real one that could not start.
        print("\n".join(RECORDED["failures"][FAULT.removeprefix("log:")]), flush=True)
        sys.exit(1)
    socket = next(one.removeprefix("--uds=") for one in said if one.startswith("--uds="))
    Server(socket, Handler).serve_forever()


if __name__ == "__main__":
    main()
