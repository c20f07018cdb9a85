"""What the program around vLLM decides by itself: runs with any Python 3.11."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_replica.engine_end import engine_end  # noqa: E402
from resontech_replica.engine_spec import SpecError  # noqa: E402
from resontech_vllm.command_line import arguments, environment  # noqa: E402
from resontech_vllm.spec import read_spec  # noqa: E402
from resontech_vllm.words import WORDS, refusal_of, steps_of  # noqa: E402

SPEC = {
    "formatVersion": 1,
    "name": "--enable-lora",
    "modelPath": "/app/model",
    "replica": "r-1",
    "port": 8080,
    "slots": 32,
    "contextTokens": 4096,
    "memoryShare": 0.9,
    "devices": 1,
    "toolCallParser": None,
    "reasoningParser": None,
    "maxBodyBytes": 1000,
    "allowed": {"/v1/completions": ["prompt", "max_tokens"]},
}


def read(**changed):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({**SPEC, **changed}, file)
        file.flush()
        return read_spec(Path(file.name))


class CommandLine(unittest.TestCase):
    def test_a_name_that_looks_like_an_argument_is_none(self):
        said = arguments(read(), Path("/tmp/e/engine.sock"), "0.33.0")
        self.assertEqual(said[0], "/app/model")
        self.assertIn("--served-model-name=--enable-lora", said)
        self.assertNotIn("--enable-lora", said)
        self.assertTrue(all(one.startswith("--") for one in said[1:]))

    def test_room_and_devices_are_as_asked(self):
        said = arguments(read(devices=2, memoryShare=0.5, contextTokens=512), Path("/s"), "0.33.0")
        for one in ("--uds=/s", "--max-model-len=512", "--max-num-seqs=32", "--gpu-memory-utilization=0.5", "--tensor-parallel-size=2"):
            self.assertIn(one, said)

    def test_what_opens_more_than_calls_stays_shut(self):
        said = arguments(read(toolCallParser="hermes", reasoningParser="qwen3"), Path("/s"), "0.33.0")
        for one in ("--no-trust-remote-code", "--disable-lora", "--disable-sleep-mode", "--disable-log-requests", "--load-format=safetensors"):
            self.assertIn(one, said)
        self.assertIn("--tool-call-parser=hermes", said)
        self.assertIn("--reasoning-parser=qwen3", said)
        self.assertFalse(any(one.startswith(("--host", "--port", "--tool-parser-plugin", "--middleware", "--allowed-local-media-path")) for one in said))
        around = environment(4)
        self.assertEqual((around["VLLM_SERVER_DEV_MODE"], around["VLLM_ALLOW_RUNTIME_LORA_UPDATING"], around["VLLM_PLUGINS"]), ("0", "0", ""))
        self.assertEqual((around["HF_HUB_OFFLINE"], around["VLLM_NO_USAGE_STATS"], around["OMP_NUM_THREADS"]), ("1", "1", "4"))


    def test_each_version_is_told_in_its_own_words(self):
        said = {version: arguments(read(), Path("/s"), version) for version in ("0.32.0+cpu", "0.33.0", "1.2.0")}
        self.assertIn("--no-enable-lora", said["0.32.0+cpu"])
        self.assertNotIn("--disable-lora", said["0.32.0+cpu"])
        self.assertIn("--disable-lora", said["0.33.0"])
        self.assertEqual(said["0.33.0"], said["1.2.0"])


    def test_the_parsers_of_both_versions_know_each_argument(self):
        fixtures = Path(__file__).resolve().parents[4] / "parts/inference-gateway/test/fixtures"
        for name in ("vllm.json", "vllm-0.33-arguments.json"):
            known = json.loads((fixtures / name).read_text())
            said = arguments(read(toolCallParser="hermes", reasoningParser="qwen3"), Path("/s"), known["version"])
            unknown = [one for one in said[1:] if one.split("=", 1)[0] not in known["flags"]]
            self.assertEqual(unknown, [], known["version"])


class Words(unittest.TestCase):
    def test_each_step_is_seen_also_one_of_a_long_prompt(self):
        told = b'vllm:iteration_tokens_total_bucket{engine="0",le="1.0"} 3.0\nvllm:iteration_tokens_total_count{engine="0",model_name="a"} 5.0\nvllm:iteration_tokens_total_count{engine="1"} 2.0\n'
        self.assertEqual(steps_of(told), 7)
        self.assertEqual(steps_of(told + b'vllm:kv_cache_usage_perc{engine="0"} 0.25\n'), 7.25)
        self.assertIsNone(steps_of(b""))

    def test_a_library_that_aborts_one_process_is_the_cause_of_the_end_of_all(self):
        said = ["(EngineCore pid=7) INFO loading", "Operation not permitted (src/thread.cpp:315)", "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}"]
        end = engine_end(WORDS, 1, False, False, said)
        self.assertEqual((end.reason, end.message), ("payload_exited", "the engine ended early with exit code 1: Operation not permitted (src/thread.cpp:315)"))

    def test_a_refusal_keeps_what_the_caller_can_mend_and_no_more(self):
        body = lambda message: json.dumps({"error": {"message": message, "type": "BadRequestError", "code": 400}}).encode()  # noqa: E731
        self.assertEqual(refusal_of(400, body("This model's maximum context length is 64 tokens.")).type, "exceed_context_size_error")
        self.assertEqual(refusal_of(400, body("top_p must be in (0, 1]")).message, "top_p must be in (0, 1]")
        self.assertEqual(refusal_of(500, body("EngineCore at 0x7f")).message, "the engine failed over this request")
        named = json.dumps({"error": {"message": "Input should be a valid integer", "param": "body.max_tokens"}}).encode()
        self.assertEqual(refusal_of(400, named).param, "max_tokens")
        picture = refusal_of(400, body("small chat is not a multimodal model"))
        self.assertEqual((picture.type, picture.param), ("unsupported_by_model", "messages"))
        for raw in (b"", b"<html>", b"[]", b'{"error": "x"}', b'{"error": {"message": 1}}', b"[" * 100_000):
            self.assertEqual(refusal_of(422, raw).type, "invalid_request_error")


class Spec(unittest.TestCase):
    def test_another_format_and_a_share_that_is_none_are_refused(self):
        for changed in ({"formatVersion": 2}, {"memoryShare": 0}, {"memoryShare": 1}):
            with self.subTest(changed), self.assertRaises(SpecError):
                read(**changed)


if __name__ == "__main__":
    unittest.main()
