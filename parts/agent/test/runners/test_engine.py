"""What the programs around engines share: what reaches an engine, and its processes."""

import json
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_replica.activity import Activity, activity_of, activity_of_session  # noqa: E402
from resontech_replica.engine import Engine, EngineProgram, engine_socket  # noqa: E402
from resontech_replica.bad_call import BadCall  # noqa: E402
from resontech_replica.engine_calls import Dialect, engine_calls, fields_of  # noqa: E402
from resontech_replica.load_signs import LoadSigns  # noqa: E402
from resontech_llama.words import WORDS  # noqa: E402

# It only ends a hang: a busy machine takes its time.
PATIENCE_S = 120


def engine_body(raw, fields, dialect=Dialect()):
    (part,) = engine_calls("/v1/completions", raw, fields, dialect).parts
    return json.dumps(part.body)


class Calls(unittest.TestCase):
    allowed = {"/v1/completions": frozenset({"prompt"})}

    def test_no_other_path_leads_to_the_engine(self):
        self.assertEqual(fields_of("/v1/completions", self.allowed), {"prompt"})
        for path in ("/completion", "/v1/completions/", "/v1/completions?x=1", "//v1/completions", "/v1/%63ompletions", "/slots/0", "/props", "/tokenize", "/infill", "/lora-adapters", "/models/load"):
            self.assertIsNone(fields_of(path, self.allowed), path)

    def test_a_field_that_is_not_named_is_dropped(self):
        raw = json.dumps({"prompt": "a", "chat_template": "{{x}}", "id_slot": 0, "n_discard": -1}).encode()
        self.assertEqual(json.loads(engine_body(raw, frozenset({"prompt"}))), {"prompt": "a"})

    def test_an_engine_gets_its_own_names_and_its_own_model(self):
        dialect = Dialect({"model": "chat"}, {"repeat_penalty": "repetition_penalty"})
        raw = json.dumps({"model": "job-1", "repeat_penalty": 1.1, "repetition_penalty": 9}).encode()
        fields = frozenset({"model", "repeat_penalty"})
        self.assertEqual(json.loads(engine_body(raw, fields, dialect)), {"model": "chat", "repetition_penalty": 1.1})

    def test_what_is_no_object_is_refused(self):
        for raw in (b"", b"[1]", b"null", b"{", b"\xff", b"[" * 100_000):
            with self.subTest(raw[:10]), self.assertRaises(BadCall):
                engine_body(raw, frozenset())


class Loading(unittest.TestCase):
    def told(self, activity_at, until=60):
        signs = LoadSigns(0.0)
        return [now for now in range(1, until) if signs.is_due(float(now), activity_at(now))]

    def test_an_engine_that_computes_or_reads_gets_on(self):
        self.assertEqual(self.told(lambda now: Activity(now * 10, False)), [10, 20, 30, 40, 50])
        self.assertEqual(self.told(lambda now: Activity(0, now == 15)), [20], "a disk, for a moment")

    def test_one_that_stands_still_or_is_gone_does_not_and_none_loads_for_ever(self):
        self.assertEqual(self.told(lambda now: Activity(5, False)), [])
        self.assertEqual(self.told(lambda now: None), [])
        self.assertEqual(self.told(lambda now: Activity(now * 100, True), until=5_000)[-1], 3_600)


# Listens, says that it is well, and starts a process of its own, as engines with several devices do.
_PROGRAM = """
import http.server, socketserver, subprocess, sys
class Health(http.server.BaseHTTPRequestHandler):
    address_string = lambda self: ""
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404); self.end_headers()
    def log_message(self, *_): pass
child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
print(child.pid, flush=True)
socketserver.ThreadingUnixStreamServer(sys.argv[1], Health).serve_forever()
"""


class Processes(unittest.TestCase):
    def start(self, code, *arguments):
        socket = engine_socket()
        self.addCleanup(socket.parent.rmdir)
        self.addCleanup(socket.unlink, missing_ok=True)
        command = [sys.executable, "-c", code, *(argument.replace("SOCKET", str(socket)) for argument in arguments)]
        return Engine(EngineProgram(command, {}, socket, WORDS))

    def wait(self, holds):
        end = time.monotonic() + PATIENCE_S
        while not holds():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def test_all_of_an_engine_is_watched_frozen_and_ended(self):
        engine = self.start(_PROGRAM, "SOCKET")
        self.addCleanup(engine.kill)
        self.assertTrue(engine.wait_loaded(PATIENCE_S))
        # The engine itself waits; what it started computes.
        self.wait(lambda: engine.activity().is_busy)
        engine.freeze()
        self.wait(lambda: not engine.activity().is_busy)
        ticks = engine.activity().ticks
        time.sleep(0.2)
        self.assertEqual(engine.activity().ticks, ticks)
        engine.thaw()
        self.wait(lambda: engine.activity().ticks > ticks)
        engine.kill()
        self.wait(lambda: engine.activity() is None)

    def test_what_can_not_start_is_told_with_its_last_words(self):
        engine = self.start("print('unable to allocate 9 bytes'); raise SystemExit(3)")
        end = engine.end(PATIENCE_S)
        self.assertEqual((end.reason, end.detail), ("out_of_memory", "unable to allocate 9 bytes"))
        self.assertFalse(engine.wait_loaded(0.1))

    def test_its_last_words_are_told_however_late_they_are_read(self):
        read = Engine._relay

        def read_late(engine):
            time.sleep(1.5)
            read(engine)

        with unittest.mock.patch.object(Engine, "_relay", read_late):
            end = self.start("print('unable to allocate 9 bytes'); raise SystemExit(3)").end(PATIENCE_S)
        self.assertEqual(end.detail, "unable to allocate 9 bytes")

    def test_one_whose_parent_is_gone_before_it_begins_never_begins(self):
        starter = Path(__file__).resolve().parents[2] / "runners/resontech_replica/die_with_parent.py"
        command = [sys.executable, "-I", "-S", str(starter), str(1 << 22 | 1), sys.executable, "-c", "print('it runs')"]
        ended = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE_S)
        self.assertEqual((ended.returncode, ended.stdout), (-9, b""))

    def test_an_engine_ends_with_whoever_started_it(self):
        starter = (
            "import os, sys; sys.path.insert(0, sys.argv[1])\n"
            "from resontech_replica.engine import Engine, EngineProgram, engine_socket\n"
            "from resontech_llama.words import WORDS\n"
            "engine = Engine(EngineProgram([sys.executable, '-c', 'import time; print(1, flush=True); time.sleep(60)'], {}, engine_socket(), WORDS))\n"
            "print(engine._process.pid, flush=True); sys.stdin.read(1); os._exit(0)\n"
        )
        runners = str(Path(__file__).resolve().parents[2] / "runners")
        with tempfile.TemporaryDirectory() as folder:
            parent = subprocess.Popen([sys.executable, "-c", starter, runners], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"TMPDIR": folder})
            lines = [parent.stdout.readline(), parent.stdout.readline()]
            pid = max(int(line) for line in lines)
            self.assertIsNotNone(activity_of(pid))
            parent.kill()
            parent.communicate()
            self.wait(lambda: activity_of_session(pid) is None)


if __name__ == "__main__":
    unittest.main()
