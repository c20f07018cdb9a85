"""Several answers of one call, and calls of tools: runs with any Python 3.11, with an engine of a few lines."""

import contextlib
import http.client
import json
import socket
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import tool_table  # noqa: E402
from resontech_replica.bad_call import BadCall  # noqa: E402
from resontech_replica.choices import parts_of  # noqa: E402
from resontech_replica.engine_calls import Dialect, engine_calls  # noqa: E402
from resontech_replica.engine_proxy import EngineProxy  # noqa: E402
from resontech_replica.engine_spec import EngineSpec  # noqa: E402
from resontech_replica.logprobs import LogprobsForm, LogprobsWish  # noqa: E402
from resontech_replica.tool_calls import CallText, ForcedAnswer, ToolSupport  # noqa: E402
from resontech_vllm.tools import chat_template_of  # noqa: E402

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
FIELDS = frozenset({"messages", "logprobs", "top_logprobs", "reasoning_effort", "prompt", "n", "seed", "stream", "stream_options", "max_tokens", "stop", "response_format", "tools", "tool_choice", "parallel_tool_calls"})
# As llama.cpp is told of, with a chat template that knows no tools.
ONE_BY_ONE = Dialect(counts_all=False, tools=ToolSupport(), knows_calls=False)
SAID = [{"role": "user", "content": "a"}]


def tool(name, parameters=None):
    return {"type": "function", "function": {"name": name, **({} if parameters is None else {"parameters": parameters})}}


def calls(body, path=CHAT, dialect=ONE_BY_ONE):
    return engine_calls(path, json.dumps(body).encode(), FIELDS, dialect)


class Parts(unittest.TestCase):
    def test_each_prompt_is_asked_as_often_as_it_is_to_be_answered(self):
        parts = parts_of(COMPLETIONS, {"prompt": ["a", [1, 2]], "n": 2, "seed": 2**32 - 2})
        self.assertEqual([(part.index, part.body["prompt"], part.body["seed"], part.is_of_new_prompt) for part in parts], [(0, "a", 2**32 - 2, True), (1, "a", 0, False), (2, [1, 2], 2**32 - 2, True), (3, [1, 2], 0, False)])
        self.assertTrue(all("n" not in part.body for part in parts))
        self.assertEqual([part.body["prompt"] for part in parts_of(COMPLETIONS, {"prompt": [1, 2]})], [[1, 2]], "tokens are one prompt")

    def test_numbers_and_prompts_that_are_none_are_refused_by_name(self):
        for body, param in [({"n": 0}, "n"), ({"n": True}, "n"), ({"n": 65}, "n"), ({"prompt": []}, "prompt"), ({"prompt": [["a"]]}, "prompt"), ({"prompt": ["a"] * 9, "n": 64}, "prompt")]:
            with self.subTest(body), self.assertRaises(BadCall) as met:
                parts_of(COMPLETIONS, body)
            self.assertEqual(met.exception.param, param)

    def test_an_engine_that_counts_all_is_asked_once(self):
        self.assertTrue(calls({"messages": SAID, "n": 4}, dialect=Dialect()).is_plain)
        self.assertEqual(len(calls({"messages": SAID, "n": 4}).parts), 4)


class Logprobs(unittest.TestCase):
    TOKENS = [
        {"id": 1, "token": "a", "bytes": [97], "logprob": -1.0, "top_logprobs": [{"id": 2, "token": "b", "bytes": [98], "logprob": -0.5}, {"id": 1, "token": "a", "bytes": [97], "logprob": -1.0}]},
        # Half of a character.
        {"id": 3, "token": "", "bytes": [240, 159], "logprob": -2.0, "top_logprobs": [{"id": 3, "token": "", "bytes": [240, 159], "logprob": -2.0}]},
    ]
    LLAMA = Dialect(counts_all=False, tells_logprobs=False)

    def told(self, body, path):
        asked = engine_calls(path, json.dumps(body).encode(), FIELDS, self.LLAMA)
        self.assertFalse(asked.is_plain)
        return asked.parts[0].body, LogprobsForm(asked.logprobs).told({"index": 0, "logprobs": {"content": self.TOKENS}})["logprobs"]

    def test_a_completion_has_the_older_form(self):
        for others, first in ((2, {"b": -0.5, "a": -1.0}), (1, {"b": -0.5, "a": -1.0}), (0, {"a": -1.0})):
            body, told = self.told({"prompt": "x", "logprobs": others}, COMPLETIONS)
            self.assertEqual(body["logprobs"], max(1, others), "the engine tells nothing where it is asked for none")
            self.assertEqual(told, {"tokens": ["a", "bytes:\\xf0\\x9f"], "token_logprobs": [-1.0, -2.0], "top_logprobs": [first, {"bytes:\\xf0\\x9f": -2.0}], "text_offset": [0, 1]})

    def test_a_chat_has_as_many_others_as_were_asked_for(self):
        for more, count in (({}, 0), ({"top_logprobs": 0}, 0), ({"top_logprobs": 1}, 1), ({"top_logprobs": 2}, 2)):
            body, told = self.told({"messages": SAID, "logprobs": True, **more}, CHAT)
            self.assertEqual(body["top_logprobs"], max(1, count))
            self.assertEqual([len(token["top_logprobs"]) for token in told["content"]], [count, min(1, count)])
            self.assertEqual(told["content"][0]["bytes"], [97])

    def test_offsets_go_on_from_piece_to_piece(self):
        form = LogprobsForm(LogprobsWish(False, 0))
        pieces = [form.told({"logprobs": {"content": self.TOKENS[:1]}}) for _ in range(2)]
        self.assertEqual([piece["logprobs"]["text_offset"] for piece in pieces], [[0], [1]])
        self.assertEqual(form.told({"logprobs": None, "text": ""}), {"logprobs": None, "text": ""})

    def test_who_asks_for_none_gets_the_engines_own_answer(self):
        for path, body in ((CHAT, {"messages": SAID}), (CHAT, {"messages": SAID, "logprobs": False}), (COMPLETIONS, {"prompt": "x"})):
            self.assertTrue(engine_calls(path, json.dumps(body).encode(), FIELDS, self.LLAMA).is_plain)

    def test_a_field_that_the_model_does_not_do_is_refused_by_name(self):
        dialect = Dialect(not_done={"reasoning_effort": "it knows none"})
        with self.assertRaises(BadCall) as met:
            calls({"messages": SAID, "reasoning_effort": "low"}, dialect=dialect)
        self.assertEqual((met.exception.kind, met.exception.param), ("unsupported_by_model", "reasoning_effort"))
        self.assertTrue(calls({"messages": SAID, "reasoning_effort": None}, dialect=dialect).is_plain)


class Tools(unittest.TestCase):
    def forced(self, tools, choice="required", **more):
        asked = calls({"messages": SAID, "tools": tools, "tool_choice": choice, **more})
        (part,) = asked.parts
        return part.body, asked.finish_reason

    def test_a_call_that_is_demanded_is_forced_by_the_schema_of_its_functions(self):
        body, finish = self.forced([tool("a"), tool("b")], stop=[], response_format={"type": "json_object"}, parallel_tool_calls=True)
        self.assertEqual(finish, "tool_calls")
        self.assertFalse({"tools", "tool_choice", "stop", "parallel_tool_calls"} & set(body))
        self.assertEqual(body["response_format"]["type"], "json_schema", "a call has its function's form")
        schema = body["response_format"]["json_schema"]["schema"]
        self.assertEqual([one["properties"]["name"]["const"] for one in schema["anyOf"]], ["a", "b"])
        self.assertIn('"name": "b"', body["messages"][0]["content"])
        body, finish = self.forced([tool("a"), tool("b")], {"type": "function", "function": {"name": "b"}})
        self.assertEqual((finish, body["response_format"]["json_schema"]["schema"]["properties"]["name"]["const"]), ("stop", "b"))

    def test_what_has_no_part_in_a_forced_call_is_refused_by_name(self):
        for name, value in (("stop", ["}"]), ("stop", "}"), ("logprobs", True), ("top_logprobs", 2)):
            with self.subTest(name), self.assertRaises(BadCall) as met:
                self.forced([tool("a")], **{name: value})
            self.assertEqual((met.exception.kind, met.exception.param), ("unsupported_by_model", name))

    def test_references_in_parameters_still_lead_where_they_led(self):
        parameters = {
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/node"}, "self": {"$ref": "#"}, "$ref": {"const": {"$ref": "#/x"}}},
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        }
        body, _ = self.forced([tool("a"), tool("b", parameters)])
        moved = body["response_format"]["json_schema"]["schema"]["$defs"]["f1"]
        self.assertEqual(moved["properties"]["tree"], {"$ref": "#/$defs/f1/$defs/node"})
        self.assertEqual(moved["properties"]["self"], {"$ref": "#/$defs/f1"})
        self.assertEqual(moved["properties"]["$ref"], {"const": {"$ref": "#/x"}}, "a name and a value")
        self.assertEqual(moved["$defs"]["node"]["properties"]["next"], {"$ref": "#/$defs/f1/$defs/node"})
        for reference in ("https://h/x.json", "other.json#/a", "#anchor"):
            with self.subTest(reference), self.assertRaises(BadCall):
                self.forced([tool("a", {"type": "object", "properties": {"x": {"$ref": reference}}})])

    def test_tools_that_nobody_would_see_are_refused_and_not_left_out(self):
        for choice in (None, "auto"):
            with self.assertRaises(BadCall) as met:
                calls({"messages": SAID, "tools": [tool("a")], "tool_choice": choice})
            self.assertEqual((met.exception.kind, met.exception.param), ("unsupported_by_model", "tools"))
        (part,) = calls({"messages": SAID, "tools": [tool("a")], "tool_choice": "none"}).parts
        self.assertNotIn("tools", part.body)
        with self.assertRaises(BadCall):
            calls({"messages": SAID, "tool_choice": "required"})

    def test_earlier_calls_are_told_in_words_where_the_template_knows_none(self):
        earlier = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}]}
        messages = [*SAID, earlier, {"role": "tool", "tool_call_id": "1", "content": "rain"}]
        (part,) = calls({"messages": messages}).parts
        self.assertEqual([message["role"] for message in part.body["messages"]], ["user", "assistant", "user"])
        self.assertTrue(all(isinstance(message["content"], str) for message in part.body["messages"]))
        (part,) = calls({"messages": messages}, dialect=Dialect()).parts
        self.assertEqual(part.body["messages"], messages)

    def test_a_call_comes_out_of_any_cut_of_its_text(self):
        text = '\n{ "name" : "a", "arguments": {"x": "}\\"{", "y": [{}]} }'
        for width in range(1, len(text) + 1):
            read = CallText()
            said = "".join(read.push(text[at : at + width]) for at in range(0, len(text), width))
            self.assertEqual((read.name, said), ("a", '{"x": "}\\"{", "y": [{}]}'))

    def test_what_is_cut_before_its_name_is_no_call_and_no_text(self):
        cut = ForcedAnswer("tool_calls").whole({"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": '{"na'}})
        self.assertEqual((cut["message"], cut["finish_reason"]), ({"role": "assistant", "content": None}, "length"))

    def test_the_document_says_what_the_adapters_do(self):
        text = tool_table.DOCUMENT.read_text(encoding="utf-8")
        self.assertEqual(tool_table.written(text), text, "python3 parts/agent/test/runners/tool_table.py writes it")

    def test_a_template_is_found_where_hugging_face_puts_it(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder)
            self.assertIsNone(chat_template_of(model))
            (model / "tokenizer_config.json").write_text('{"chat_template": [{"name": "default", "template": "x"}, {"name": "tool_use", "template": "{{ tools }}"}]}')
            self.assertEqual(chat_template_of(model), "x\n{{ tools }}")
            (model / "chat_template.jinja").write_text("y")
            self.assertEqual(chat_template_of(model), "y")


class _PlayedEngine(BaseHTTPRequestHandler):
    """Answers as many tokens as are asked for, and counts one choice alone, as llama.cpp does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        if body["prompt"] == "wait":
            self.server.waits.set()
            self.rfile.read(1)
            return self.server.was_cut.set()
        if body["prompt"] == "bad":
            return self.answer(400, "application/json", b'{"error":{"type":"exceed_context_size_error","message":"too long"}}')
        choice = {"index": 0, "text": body["prompt"], "finish_reason": "length"}
        usage = {"prompt_tokens": 5, "completion_tokens": body["max_tokens"], "total_tokens": 0}
        if not body.get("stream"):
            return self.answer(200, "application/json", json.dumps({"id": "1", "choices": [choice], "usage": usage, "timings": {}}).encode())
        events = [None, *[{"id": str(id(self)), "choices": [choice]}] * body["max_tokens"], {"choices": [], "usage": usage}]
        self.answer(200, "text/event-stream", b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n")

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        # Who asked for several may have hung up over another one.
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Joined(unittest.TestCase):
    def setUp(self):
        engine = ThreadingHTTPServer(("127.0.0.1", 0), _PlayedEngine)
        engine.asked, engine.waits, engine.was_cut = [], threading.Event(), threading.Event()

        class Connected:
            def connect(self):
                connection = http.client.HTTPConnection(*engine.server_address, timeout=10)
                connection.connect()
                return connection

        spec = EngineSpec("m", Path("m"), "r", 0, 3, 100, 10**6, {COMPLETIONS: FIELDS})
        self.proxy = EngineProxy(spec, Connected(), ONE_BY_ONE)
        self.engine = engine
        for server in (engine, self.proxy):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
            self.addCleanup(server.server_close)
            self.addCleanup(server.shutdown)

    def ask(self, **body):
        url = f"http://127.0.0.1:{self.proxy.server_port}{COMPLETIONS}"
        try:
            with urllib.request.urlopen(urllib.request.Request(url, json.dumps({"max_tokens": 2, **body}).encode()), timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def test_all_answers_are_one_with_the_tokens_of_all(self):
        status, said = self.ask(prompt=["a", "b"], n=3)
        answer = json.loads(said)
        self.assertEqual((status, [(choice["index"], choice["text"]) for choice in answer["choices"]]), (200, [(0, "a"), (1, "a"), (2, "a"), (3, "b"), (4, "b"), (5, "b")]))
        self.assertEqual((answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"], answer["usage"]["total_tokens"]), (10, 12, 22))
        self.assertEqual(len(self.engine.asked), 6)

    def test_a_stream_has_each_answers_place_and_one_usage(self):
        status, said = self.ask(prompt=["a", "b"], n=2, stream=True, stream_options={"include_usage": True})
        events = [event.removeprefix("data: ") for event in said.split("\n\n")[:-1]]
        self.assertEqual((status, events[-1]), (200, "[DONE]"))
        chunks = [json.loads(event) for event in events[:-1]]
        self.assertEqual(sorted((choice["index"], choice["text"]) for chunk in chunks for choice in chunk["choices"]), [(0, "a")] * 2 + [(1, "a")] * 2 + [(2, "b")] * 2 + [(3, "b")] * 2)
        self.assertEqual([chunk["usage"]["completion_tokens"] for chunk in chunks if "usage" in chunk], [8])
        self.assertEqual(len({chunk["id"] for chunk in chunks}), 1)
        self.assertNotIn("usage", self.ask(prompt=["a", "b"], stream=True)[1], "who did not ask for it")

    def test_one_that_is_refused_refuses_all(self):
        for stream in (False, True):
            status, said = self.ask(prompt=["bad", "bad"], stream=stream)
            self.assertEqual((status, json.loads(said)["error"]["type"]), (400, "exceed_context_size_error"))
        status, said = self.ask(prompt=["a", "b", "bad"])
        self.assertEqual(status, 400)

    def test_who_hangs_up_ends_all(self):
        body = json.dumps({"prompt": ["wait", "wait"], "max_tokens": 1}).encode()
        caller = socket.create_connection(("127.0.0.1", self.proxy.server_port))
        caller.sendall(b"POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s" % (COMPLETIONS.encode(), len(body), body))
        self.assertTrue(self.engine.waits.wait(10))
        caller.close()
        self.assertTrue(self.engine.was_cut.wait(10))
        self.assertEqual(self.ask(prompt=["a", "b"])[0], 200, "and the places are free")


if __name__ == "__main__":
    unittest.main()
