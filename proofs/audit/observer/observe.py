"""Runs a script unmodified and notes each HTTP request that leaves its process, as it stands in the bytes given to TLS.

It knows neither the client nor its libraries: whatever speaks HTTP/1.1 over Python's ssl passes here. One JSON line a request.

usage: observe.py LOG SCRIPT ARGUMENTS…
"""

import json
import re
import runpy
import ssl
import sys
import threading

REQUEST = re.compile(rb"^(GET|HEAD|PUT|POST|DELETE|PATCH|OPTIONS) (\S+) HTTP/1\.1\r\n")
HOST = re.compile(rb"\r\n[Hh]ost: *([^\r]+)\r\n")
AUTHORIZATION = re.compile(rb"\r\n[Aa]uthorization: *(AWS4-HMAC-SHA256 Credential=([^/]+))?")

log = open(sys.argv[1], "a", buffering=1)
lock = threading.Lock()


def note(data) -> None:
    head = bytes(data[:16384])
    request = REQUEST.match(head)
    if request is None:
        return
    host = HOST.search(head)
    credential = AUTHORIZATION.search(head)
    with lock:
        log.write(
            json.dumps(
                {
                    "method": request[1].decode(),
                    "target": request[2].decode(),
                    "host": host[1].decode() if host else None,
                    "accessKey": credential[2].decode() if credential and credential[2] else None,
                }
            )
            + "\n"
        )


for owner, name in ((ssl.SSLSocket, "send"), (ssl.SSLSocket, "sendall"), (ssl.SSLObject, "write")):

    def passed(self, data, *rest, _original=getattr(owner, name), _name=name):
        # sendall calls send; only the first of the two is the request's own.
        if not getattr(self, "_is_sending_all", False):
            note(data)
        if _name != "sendall":
            return _original(self, data, *rest)
        self._is_sending_all = True
        try:
            return _original(self, data, *rest)
        finally:
            self._is_sending_all = False

    setattr(owner, name, passed)

sys.argv = sys.argv[2:]
sys.path.insert(0, sys.argv[0].rsplit("/", 1)[0])
runpy.run_path(sys.argv[0], run_name="__main__")
