"""The server of a predictor: what it takes, what it answers, how it fails. No container is needed."""

import base64
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

RUNNERS = Path(__file__).resolve().parents[2] / "runners"
sys.path.insert(0, str(RUNNERS))

from resontech_predictor.answer import BadAnswer, answer_bytes, json_bytes  # noqa: E402
from resontech_predictor.body import BadBody, predictor_bytes  # noqa: E402

# It only ends a hang: a busy machine takes its time.
PATIENCE_S = 120

ECHO = """
import asyncio, time
class EchoPredictor:
    def __init__(self, prefix="", slow=0.0):
        self.prefix, self.slow, self.weights, self.warm = prefix, slow, None, False
    def load_weights(self, path):
        self.weights = open(path).read()
    def warmup(self):
        self.warm = True
    async def predict(self, data):
        await asyncio.sleep(self.slow)
        if data == b"raise":
            raise ValueError("row 7 has no label")
        if data == b"list":
            return [1]
        return {"said": self.prefix + data.decode(), "weights": self.weights, "warm": self.warm}
"""


# A call tells that it is under way, and ends when it may.
HELD = ECHO.replace(
    "await asyncio.sleep(self.slow)",
    """import os
        open(self.prefix + "/begun", "w").close()
        while not os.path.exists(self.prefix + "/may-end"):
            await asyncio.sleep(0.01)""",
)


def free_port():
    """Below the range that Linux gives connections that go out: one of those could take it before the replica listens."""
    while True:
        port = random.randrange(26_000, 27_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


class Replica:
    """A real process of predict.py, with a root of its own."""

    def __init__(self, script=ECHO, class_name="EchoPredictor", init_args=None, weights=None, most=8, call_limit_ms=60_000):
        self.folder = tempfile.TemporaryDirectory()
        root = self.root = Path(self.folder.name)
        self.port = free_port()
        for part in ("rt/job/scripts", "rt/events"):
            (root / part).mkdir(parents=True)
        (root / "rt/job/scripts/echo_serve.py").write_text(script)
        if weights is not None:
            (root / "weights").write_text(weights)
        spec = {
            "formatVersion": 1,
            "module": "echo_serve",
            "className": class_name,
            "initArgs": init_args or {},
            "modelPath": None if weights is None else str(root / "weights"),
            "replica": "r-1",
            "port": self.port,
            "maxOngoingRequests": most,
            "maxAnswerBytes": 1000,
            "callLimitMs": call_limit_ms,
        }
        (root / "rt/job/predictor.json").write_text(json.dumps(spec))
        self.events = root / "rt/events/events.jsonl"
        program = f"import pathlib, sys; sys.path.insert(0, {str(RUNNERS)!r}); from resontech_predictor import main; sys.exit(main.main(pathlib.Path({str(root)!r})))"
        # In a folder of its own it would not find what lies in ours.
        self.process = subprocess.Popen([sys.executable, "-u", "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=root)

    def ready(self):
        self.until(lambda: any(event["kind"] == "ready" for event in self.told()))
        return self

    def wish(self, order, asleep):
        """As the agent does: the file is replaced."""
        fresh = self.root / "rt/job/wish.fresh"
        fresh.write_text(json.dumps({"formatVersion": 1, "order": order, "asleep": asleep}))
        fresh.rename(self.root / "rt/job/wish.json")

    def until(self, holds):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if holds():
                return True
            time.sleep(0.05)
        return False

    def standings(self):
        return [(event["standing"], event["order"]) for event in self.told() if event["kind"] == "standing"]

    def told(self):
        if not self.events.exists():
            return []
        return [json.loads(line) for line in self.events.read_text().splitlines()]

    def ask(self, path, body=None, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=body, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.loads(answer.read()), dict(answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read()), dict(error.headers)

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()


class Serving(unittest.TestCase):
    def replica(self, **options):
        made = Replica(**options)
        self.addCleanup(made.end)
        return made

    def test_every_hook_is_called_and_a_body_is_answered(self):
        replica = self.replica(init_args={"prefix": "> "}, weights="w").ready()
        status, said, headers = replica.ask("/predict", b"hello", **{"Content-Type": "application/octet-stream"})
        self.assertEqual((status, said), (200, {"said": "> hello", "weights": "w", "warm": True}))
        self.assertEqual(headers["X-Replica-Id"], "r-1")
        self.assertEqual(replica.ask("/health")[:2], (200, {"status": "ok"}))

    def test_what_the_predictor_raises_and_returns_wrongly_is_told_with_the_request_id(self):
        replica = self.replica().ready()
        status, said, _ = replica.ask("/predict", b"raise", **{"X-Request-Id": "abc"})
        self.assertEqual((status, said["error"]), (500, {"type": "predictor_exception", "message": "ValueError: row 7 has no label", "request_id": "abc"}))
        self.assertEqual(replica.ask("/predict", b"list")[1]["error"]["type"], "invalid_answer")
        self.assertEqual(replica.ask("/predict", b"x" * 2000)[1]["error"]["type"], "invalid_answer", "too long")
        self.assertEqual(replica.ask("/predict", b"{", **{"Content-Type": "application/json"})[0], 400)
        self.assertEqual(replica.ask("/other", b"")[0], 404)

    def test_more_requests_than_it_takes_are_refused(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        replica = self.replica(script=HELD, init_args={"prefix": folder.name}, most=1).ready()
        first = subprocess.Popen(
            [sys.executable, "-c", f"import urllib.request; urllib.request.urlopen('http://127.0.0.1:{replica.port}/predict', b'a').read()"]
        )
        while not (Path(folder.name) / "begun").exists():
            self.assertIsNone(first.poll())
            time.sleep(0.01)
        self.assertEqual(replica.ask("/predict", b"b")[0], 503)
        (Path(folder.name) / "may-end").touch()
        self.assertEqual(first.wait(), 0)
        self.assertEqual(replica.ask("/predict", b"c")[0], 200)

    def test_what_can_not_be_loaded_ends_with_its_reason(self):
        cases = {
            "raise RuntimeError('no weights')": ("user_exception", "RuntimeError: no weights"),
            "class Other: pass": ("user_exception", "LoadError: echo_serve has no class EchoPredictor"),
            "class EchoPredictor: pass": ("user_exception", "LoadError: EchoPredictor has no method predict"),
            "import what_is_not_there": ("user_exception", "ModuleNotFoundError: No module named 'what_is_not_there'"),
        }
        for script, expected in cases.items():
            with self.subTest(script):
                replica = self.replica(script=script)
                self.assertEqual(replica.process.wait(PATIENCE_S), 1)
                (failed,) = [event for event in replica.told() if event["kind"] == "failed"]
                self.assertEqual((failed["reason"], failed["message"]), expected)

    def test_a_stop_lets_what_is_under_way_end(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        replica = self.replica(script=HELD, init_args={"prefix": folder.name}).ready()
        asking = http.client.HTTPConnection("127.0.0.1", replica.port, timeout=PATIENCE_S)
        self.addCleanup(asking.close)
        asking.request("POST", "/predict", b"a")
        self.assertTrue(replica.until((Path(folder.name) / "begun").exists))
        replica.process.send_signal(signal.SIGTERM)
        (Path(folder.name) / "may-end").touch()
        self.assertEqual(json.loads(asking.getresponse().read())["said"], folder.name + "a")
        self.assertEqual(replica.process.wait(PATIENCE_S), 143)


HANGS = """
import ctypes, time
class EchoPredictor:
    def predict(self, data):
        while data == b"loop":
            pass
        if data == b"hold":
            # The interpreter's own lock is held meanwhile.
            ctypes.PyDLL(None).sleep(300)
        if data == b"slow":
            time.sleep(10)
        return {"said": data.decode()}
"""


class Hanging(unittest.TestCase):
    def replica(self, **options):
        made = Replica(script=HANGS, **options).ready()
        self.addCleanup(made.end)
        return made

    def send(self, replica, body):
        connection = socket.create_connection(("127.0.0.1", replica.port))
        self.addCleanup(connection.close)
        connection.sendall(b"POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def end_of(self, replica):
        self.assertEqual(replica.process.wait(PATIENCE_S), 1)
        (failed,) = [event for event in replica.told() if event["kind"] == "failed"]
        return failed

    def test_an_endless_loop_ends_the_replica_after_the_time_of_a_call(self):
        replica = self.replica(call_limit_ms=6_000)
        self.send(replica, b"loop")
        self.assertEqual(replica.ask("/predict", b"a")[0], 200, "others are answered meanwhile")
        self.assertTrue(replica.until(lambda: replica.standings() == [("stalled", 0)]))
        failed = self.end_of(replica)
        self.assertEqual(failed["reason"], "no_progress")
        self.assertRegex(failed["message"], r"^a call runs for \d+ s, and a call has 6 s$")

    def test_a_process_that_does_not_answer_and_does_not_run_is_ended_before_the_time_of_a_call(self):
        replica = self.replica()
        self.send(replica, b"hold")
        failed = self.end_of(replica)
        self.assertEqual(failed["reason"], "no_progress")
        self.assertRegex(failed["message"], "and next to nothing of it runs$")

    def test_slow_calls_within_their_time_are_waited_for(self):
        replica = self.replica()
        self.send(replica, b"slow")
        self.assertTrue(replica.until(lambda: replica.standings() == [("stalled", 0), ("well", 0)]))
        self.assertIsNone(replica.process.poll())


class Sleeping(unittest.TestCase):
    def test_it_sleeps_and_wakes_at_the_agents_word(self):
        replica = Replica().ready()
        self.addCleanup(replica.end)
        replica.wish(1, True)
        self.assertTrue(replica.until(lambda: replica.standings() == [("asleep", 1)]))
        with self.assertRaises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{replica.port}/health", timeout=1)
        time.sleep(12)
        replica.wish(2, False)
        self.assertTrue(replica.until(lambda: replica.standings()[-1] == ("well", 2)))
        self.assertEqual(replica.ask("/predict", b"a")[0], 200)

    def test_wishes_that_pass_at_once_are_answered_by_the_last_and_a_sleeper_can_be_stopped(self):
        replica = Replica().ready()
        self.addCleanup(replica.end)
        replica.wish(2, False)
        self.assertTrue(replica.until(lambda: replica.standings() == [("well", 2)]))
        replica.wish(3, True)
        self.assertTrue(replica.until(lambda: replica.standings()[-1] == ("asleep", 3)))
        replica.process.send_signal(signal.SIGTERM)
        self.assertEqual(replica.process.wait(PATIENCE_S), 143)


class Bodies(unittest.TestCase):
    def test_which_bytes_the_predictor_is_given(self):
        encoded = json.dumps({"data_b64": base64.b64encode(b"\x00\xff").decode(), "more": 1}).encode()
        form = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\ntext\r\n--x\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\n\r\n\x00\r\n\xff\r\n--x--\r\n'
        self.assertEqual(predictor_bytes(None, b"raw"), b"raw")
        self.assertEqual(predictor_bytes("image/png", b"\x89"), b"\x89")
        self.assertEqual(predictor_bytes("application/json; charset=utf-8", encoded), b"\x00\xff")
        self.assertEqual(predictor_bytes("multipart/form-data; boundary=x", form), b"\x00\r\n\xff")

    def test_what_is_no_request(self):
        for kind, body in (
            ("application/json", b"[]"),
            ("application/json", b"{}"),
            ("application/json", b'{"data_b64": "%"}'),
            ("application/json", b'{"url": "http://a"}'),
            ("multipart/form-data; boundary=x", b"nothing"),
        ):
            with self.subTest(body), self.assertRaises(BadBody):
                predictor_bytes(kind, body)


class Answers(unittest.TestCase):
    def test_what_says_itself_what_it_is_becomes_json(self):
        class Array:
            def tolist(self):
                return [1, 2]

        self.assertEqual(answer_bytes({"a": Array(), "b": "ä"}, 100), b'{"a":[1,2],"b":"\\u00e4"}')

    def test_what_holds_itself_is_no_answer_and_is_told_at_once(self):
        rings = [{}, {}, {}, {"a": 1}]
        rings[0]["self"] = rings[0]
        rings[1]["list"] = [[rings[1]]]
        rings[2]["tuple"] = ({"in": rings[2]},)
        ring = []
        ring.append(ring)
        rings[3]["b"] = ring
        for returned in rings:
            with self.assertRaisesRegex(BadAnswer, "what is no JSON"):
                answer_bytes(returned, 100)
        for plain in (1, None, "a", 1.5, True):
            self.assertEqual(json.loads(json_bytes(plain, 100)), plain)
        shared = {"a": [1, 2]}
        self.assertEqual(answer_bytes({"x": shared, "y": shared}, 100), b'{"x":{"a":[1,2]},"y":{"a":[1,2]}}')
        folded = []
        for _ in range(60):
            folded = [folded, folded]
        with self.assertRaisesRegex(BadAnswer, "more than 100 bytes"):
            answer_bytes({"a": folded}, 100)

    def test_what_is_no_answer(self):
        for returned in ([1], {"a": object()}, {"a": float("nan")}, {"a": "x" * 200}):
            with self.subTest(returned), self.assertRaises(BadAnswer):
                answer_bytes(returned, 100)


if __name__ == "__main__":
    unittest.main()
