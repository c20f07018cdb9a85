"""What the program around llama.cpp decides by itself: runs with any Python 3.11."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_llama.main import require_room
from resontech_llama.spec import read_spec
from resontech_llama.tools import not_done
from resontech_llama.words import WORDS, decodes_of, refusal_of
from resontech_replica.engine_end import engine_end
from resontech_replica.engine_spec import SpecError
from resontech_replica.run_engine import EngineLoadError

SPEC = {
    "formatVersion": 1,
    "name": "chat",
    "modelPath": "/app/model/m.gguf",
    "task": "generate",
    "pooling": None,
    "replica": "r-1",
    "port": 8080,
    "slots": 4,
    "contextTokens": 4096,
    "maxBodyBytes": 1000,
    "allowed": {"/v1/completions": ["prompt", "max_tokens"]},
}


class Ends(unittest.TestCase):
    def test_why_the_engine_ended_is_told_by_the_first_line_that_says_it(self):
        bad = ["loading", "llama_model_load: error loading model: invalid magic", "srv: failed to load model"]
        cases = [
            ((1, False, False, bad), ("user_exception", "the weights could not be loaded: llama_model_load: error loading model: invalid magic")),
            ((1, False, False, ["ggml: failed to allocate buffer of size 9", *bad]), ("out_of_memory", "the engine got no memory: ggml: failed to allocate buffer of size 9")),
            ((-9, True, True, []), ("out_of_memory", "the engine was killed: the memory limit of the container was reached")),
            ((-9, True, False, bad), ("payload_exited", "the engine was ended by signal 9 (SIGKILL)")),
            # As libzmq ends vLLM, and as an engine ends that said nothing known, or nothing at all.
            ((-6, False, False, ["loading", "Operation not permitted (src/thread.cpp:315)", ""]), ("payload_exited", "the engine was ended by signal 6 (SIGABRT): Operation not permitted (src/thread.cpp:315)")),
            ((1, False, False, ["no such device"]), ("payload_exited", "the engine ended early with exit code 1: no such device")),
            ((-6, True, False, ["terminate called"]), ("payload_exited", "the engine was ended by signal 6 (SIGABRT): terminate called")),
            ((1, True, False, ["somebody asked this"]), ("payload_exited", "the engine ended early with exit code 1")),
            ((1, False, False, []), ("payload_exited", "the engine ended early with exit code 1")),
            ((-6, True, False, ["GGML_ASSERT"]), ("payload_exited", "the engine was ended by signal 6 (SIGABRT): GGML_ASSERT")),
        ]
        for said, expected in cases:
            with self.subTest(expected):
                end = engine_end(WORDS, *said)
                self.assertEqual((end.reason, end.message), expected)
                self.assertEqual(end.detail, "\n".join(said[3]))


class Metrics(unittest.TestCase):
    def test_how_often_the_engine_has_decoded(self):
        self.assertEqual(decodes_of(b"# HELP x\nllamacpp:n_decode_total 17\nllamacpp:other 3\n"), 17)
        self.assertEqual(decodes_of(b'llamacpp:n_decode_total{model="a"} 1.5\n'), 1.5)
        self.assertIsNone(decodes_of(b""))


class Refusals(unittest.TestCase):
    def test_what_it_calls_its_own_fault_and_is_the_callers_is_told_so(self):
        body = lambda message, kind="server_error": json.dumps({"error": {"code": 500, "message": message, "type": kind}}).encode()  # noqa: E731
        # As llama.cpp b11549 says them.
        too_long = refusal_of(500, body("input (301 tokens) is too large to process. increase the physical batch size (current batch size: 128)"))
        self.assertEqual((too_long.type, too_long.message, too_long.param), ("exceed_context_size_error", "a text has 301 tokens, which are more than the model takes", "input"))
        for message in (
            "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            "Failed to parse messages: Missing 'role' in message: {}",
            "Failed to parse tools: Unsupported tool type: {}",
            "Error: Jinja Exception: Conversation roles must alternate",
        ):
            self.assertEqual(refusal_of(500, body(message)).type, "invalid_request_error", message)
        self.assertEqual(refusal_of(500, body("decode failed")).type, "server_error")
        self.assertEqual(refusal_of(501, body("no embeddings", "not_supported_error")).type, "not_supported_error")
        for raw in (b"", b"<html>", b"[]", b'{"error": "x"}', b"[" * 100_000):
            self.assertEqual(refusal_of(500, raw).type, "server_error")

    def test_a_field_that_the_template_does_not_know_is_not_done(self):
        self.assertEqual(not_done(b'{"chat_template_caps":{"supports_reasoning_effort":true}}'), {})
        for props in (b'{"chat_template_caps":{"supports_reasoning_effort":false}}', b"{}", b"x"):
            self.assertIn("reasoning_effort", not_done(props))


class Room(unittest.TestCase):
    def test_weights_that_can_not_fit_are_told_before_they_are_read(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"0" * 100)
            file.flush()
            require_room(Path(file.name), None)
            require_room(Path(file.name), 100)
            with self.assertRaises(EngineLoadError) as raised:
                require_room(Path(file.name), 99)
            self.assertEqual(raised.exception.end.reason, "out_of_memory")
            self.assertEqual(str(raised.exception), "the weights have 100 bytes, and the container has 99 bytes of memory")


class Spec(unittest.TestCase):
    def read(self, **changed):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({**SPEC, **changed}, file)
            file.flush()
            return read_spec(Path(file.name))

    def test_what_the_agent_asks_is_read(self):
        spec = self.read()
        self.assertEqual((spec.model_path, spec.embeds, spec.slots), (Path("/app/model/m.gguf"), False, 4))
        self.assertEqual(spec.allowed, {"/v1/completions": {"prompt", "max_tokens"}})

    def test_another_format_is_refused(self):
        for changed in ({"formatVersion": 2}, {"task": "train"}):
            with self.subTest(changed), self.assertRaises(SpecError):
                self.read(**changed)


if __name__ == "__main__":
    unittest.main()
