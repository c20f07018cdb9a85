"""
Records what a real vLLM answers, for tests that have none: `PYTHON record-vllm.py MODEL OUT [ENVIRONMENT=VALUE ...]`.

PYTHON has vLLM; MODEL is a folder in Hugging Face's layout. The server is started as the program around it does, and asked on its Unix socket. What is
recorded is each answer as it came, piece by piece. Nothing is made up: a call that fails is recorded as it failed.
"""

import contextlib
import http.client
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "parts/agent/runners"))

from resontech_vllm.command_line import arguments, environment  # noqa: E402
from resontech_vllm.spec import VllmSpec  # noqa: E402

NAME = "small chat"
CONTEXT = 256
SERVE = [sys.executable, "-u", "-P", "-m", "vllm.entrypoints.cli.main", "serve"]
KEPT_HEADERS = ("content-type", "content-length", "transfer-encoding")


def chat(content="Say a word.", **more):
    return {"model": NAME, "messages": [{"role": "user", "content": content}], "temperature": 0, "seed": 1, "max_tokens": 8, **more}


TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
CALLS = [
    ("chat", "POST", "/v1/chat/completions", chat()),
    ("chat stream", "POST", "/v1/chat/completions", chat(**STREAM)),
    ("long chat stream", "POST", "/v1/chat/completions", chat("Write a long story.", max_tokens=200, ignore_eos=True, **STREAM)),
    ("long chat", "POST", "/v1/chat/completions", chat("Write a long story.", max_tokens=200, ignore_eos=True)),
    ("chat with salt", "POST", "/v1/chat/completions", chat(cache_salt="a" * 43)),
    ("completion", "POST", "/v1/completions", {"model": NAME, "prompt": "Once upon", "temperature": 0, "max_tokens": 8}),
    ("completion stream", "POST", "/v1/completions", {"model": NAME, "prompt": "Once upon", "temperature": 0, "max_tokens": 8, **STREAM}),
    ("small call", "POST", "/v1/completions", {"model": NAME, "prompt": "a", "max_tokens": 1}),
    ("two answers", "POST", "/v1/chat/completions", chat(n=2, temperature=1)),
    ("logprobs", "POST", "/v1/chat/completions", chat(logprobs=True, top_logprobs=2, max_tokens=2)),
    ("forced tool", "POST", "/v1/chat/completions", chat("Weather in Paris?", tools=[TOOL], tool_choice={"type": "function", "function": {"name": "weather"}}, max_tokens=40)),
    ("forced tool stream", "POST", "/v1/chat/completions", chat("Weather in Paris?", tools=[TOOL], tool_choice={"type": "function", "function": {"name": "weather"}}, max_tokens=40, **STREAM)),
    ("auto tool", "POST", "/v1/chat/completions", chat("Weather in Paris?", tools=[TOOL], tool_choice="auto")),
    ("schema", "POST", "/v1/chat/completions", chat("A city.", response_format={"type": "json_schema", "json_schema": {"name": "c", "schema": TOOL["function"]["parameters"]}}, max_tokens=40)),
    ("too long", "POST", "/v1/chat/completions", chat("word " * 400)),
    ("too many tokens", "POST", "/v1/chat/completions", chat(max_tokens=4000)),
    ("too long completion", "POST", "/v1/completions", {"model": NAME, "prompt": "word " * 400, "max_tokens": 8}),
    ("bad temperature", "POST", "/v1/chat/completions", chat(temperature=-1)),
    ("bad type", "POST", "/v1/chat/completions", chat(max_tokens="many")),
    ("bad role", "POST", "/v1/chat/completions", {**chat(), "messages": [{"role": 1}]}),
    ("unknown model", "POST", "/v1/chat/completions", {**chat(), "model": "other"}),
    ("picture by URL", "POST", "/v1/chat/completions", {**chat(), "messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://127.0.0.1:9/a.png"}}]}]}),
    ("embeddings", "POST", "/v1/embeddings", {"model": NAME, "input": "a"}),
    ("suffix", "POST", "/v1/completions", {"model": NAME, "prompt": "a", "suffix": "b", "max_tokens": 1}),
    ("health", "GET", "/health", None),
    ("models", "GET", "/v1/models", None),
    ("metrics", "GET", "/metrics", None),
]
# Of a server that was told no parser of tools' calls.
WITHOUT_PARSER = [("auto tool without parser", "POST", "/v1/chat/completions", chat("Rain in Paris?", tools=[TOOL], tool_choice="auto"))]
KEPT_METRICS = re.compile(r"vllm:(iteration_tokens_total|num_requests_running|kv_cache_usage_perc)(_count)?\{")
# Of a traceback the places in files, which say nothing of the cause.
FRAME = re.compile(r"^(\([^)]*\) )?([A-Z]+ \S+ \S+ \[[^]]*\] )?(\s*$|\s{2,3}File |\s{4,})")
CLOSED = [
    *(("GET", path) for path in ("/docs", "/openapi.json", "/server_info", "/is_sleeping", "/tokenizer_info", "/version", "/load", "/ping")),
    *(("POST", path) for path in ("/v1/load_lora_adapter", "/sleep", "/collective_rpc", "/pause", "/update_weights", "/invocations", "/reset_prefix_cache", "/tokenize", "/start_profile", "/abort_requests")),
]


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("engine", timeout=300)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(300)
        self.sock.connect(str(self.path))


def ask(path, method, url, body):
    connection = Connection(path)
    connection.request(method, url, None if body is None else json.dumps(body), {} if body is None else {"Content-Type": "application/json"})
    answer = connection.getresponse()
    pieces = []
    while piece := answer.read1(65536):
        pieces.append(piece.decode())
    connection.close()
    headers = {name: value for name in KEPT_HEADERS if (value := answer.getheader(name)) is not None}
    if url == "/metrics":
        pieces = ["".join(line + "\n" for line in "".join(pieces).splitlines() if KEPT_METRICS.match(line))]
        headers["content-length"] = str(len(pieces[0]))
    return {"status": answer.status, "headers": headers, "pieces": pieces}


def running(path):
    text = "".join(ask(path, "GET", "/metrics", None)["pieces"])
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("vllm:num_requests_running{"))


def until_free_s(path):
    began = time.monotonic()
    while running(path) > 0:
        time.sleep(0.02)
    return round(time.monotonic() - began, 3)


def hang_up(path, body, after_pieces):
    """How long the engine goes on with a call that nobody waits for."""
    connection = Connection(path)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    if after_pieces:
        answer = connection.getresponse()
        for _ in range(after_pieces):
            answer.read1(65536)
    else:
        while running(path) == 0:
            time.sleep(0.01)
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    return until_free_s(path)


def broken_stream(path, engine, body):
    """What comes of a stream whose engine is killed behind the server, and how the server itself ends."""
    connection = Connection(path)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    pieces = [answer.read1(65536).decode() for _ in range(4)]
    children = Path(f"/proc/{engine.pid}/task/{engine.pid}/children").read_text().split()
    for child in children:
        if b"EngineCore" in Path(f"/proc/{child}/cmdline").read_bytes() or b"multiprocessing.spawn" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), 9)
    began = time.monotonic()
    with contextlib.suppress(http.client.HTTPException, OSError):
        while piece := answer.read1(65536):
            pieces.append(piece.decode())
    with contextlib.suppress(subprocess.TimeoutExpired):
        engine.wait(60)
    return {"pieces": pieces, "isWhole": answer.isclosed(), "exitCode": engine.poll(), "endedAfterS": round(time.monotonic() - began, 1)}


def spec_of(model, **changed):
    said = dict(name=NAME, model_path=Path(model), replica="r", port=0, slots=4, context_tokens=CONTEXT, max_body_bytes=0, allowed={}, memory_share=0.5, devices=1, tool_call_parser=None, reasoning_parser=None)
    return VllmSpec(**{**said, **changed})


def serve(around, *said, **more):
    return subprocess.run([*SERVE, *said], env=around, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **more)


def flags(around):
    """All that its command line knows."""
    found = set(re.findall(r"--[a-z][a-z0-9-]*", serve(around, "--help=all").stdout))
    return sorted(flag for flag in found if not flag.endswith("-"))


def broken_models(model, folder):
    """A model each that can't be served, by what is wrong with it."""

    def changed(name, change):
        to = folder / name
        shutil.copytree(model, to)
        change(to)
        return to

    def with_config(**more):
        return lambda to: (to / "config.json").write_text(json.dumps({**json.loads((to / "config.json").read_text()), **more}))

    def cut(to):
        file = next(to.glob("*.safetensors"))
        file.write_bytes(file.read_bytes()[:1000])

    return {
        "no weights": (changed("none", lambda to: [file.unlink() for file in to.glob("*.safetensors")]), {}),
        "cut weights": (changed("cut", cut), {}),
        "code of its own": (changed("code", with_config(model_type="own", architectures=["Own"], auto_map={"AutoConfig": "own.Own", "AutoModelForCausalLM": "own.Model"})), {}),
        "unknown architecture": (changed("unknown", with_config(architectures=["NobodyForCausalLM"])), {}),
        "other shapes": (changed("shapes", with_config(hidden_size=72, num_attention_heads=9, num_key_value_heads=3, head_dim=8)), {}),
        "context beyond the model's": (Path(model), {"context_tokens": 1_000_000}),
    }


@contextlib.contextmanager
def served(around, spec, folder):
    """The server's socket and its log, once it has its model."""
    path, log = folder / "engine.sock", folder / "engine.log"
    with open(log, "wb") as file:
        engine = subprocess.Popen([*SERVE, *arguments(spec, path, version("vllm"))], env=around, stdout=file, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        while not is_well(path):
            if engine.poll() is not None:
                raise SystemExit(f"the engine ended with {engine.returncode}: {log.read_text()[-4000:]}")
            time.sleep(0.2)
        yield path, log, engine
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(engine.pid, 9)
        engine.wait()
        path.unlink(missing_ok=True)


def is_well(path):
    try:
        return ask(path, "GET", "/health", None)["status"] == 200
    except OSError:
        return False


def record(path, calls):
    return [{"name": name, "request": {"method": method, "path": url, "body": body}, "answer": ask(path, method, url, body)} for name, method, url, body in calls]


def failure(around, spec, folder):
    """What the server prints that can't start, without places in files."""
    path = folder / "none.sock"
    printed = serve(around, *arguments(spec, path, version("vllm")), timeout=300).stdout
    path.unlink(missing_ok=True)
    return words(printed)


def words(printed):
    return [line[:600] for line in printed.splitlines() if not FRAME.match(line)]


def main():
    model, out, *settings = sys.argv[1:]
    folder = Path(tempfile.mkdtemp(prefix="record-"))
    around = {**os.environ, **environment(len(os.sched_getaffinity(0))), **dict(one.split("=", 1) for one in settings)}
    long = chat("Write a long story.", max_tokens=200, ignore_eos=True)
    began = time.monotonic()
    with served(around, spec_of(model, tool_call_parser="hermes"), folder) as (path, log, _):
        told = {
            "engine": "vllm",
            "version": version("vllm"),
            "date": date.today().isoformat(),
            "python": platform.python_version(),
            "device": "cpu",
            "model": Path(model).name,
            "contextTokens": CONTEXT,
            "loadedAfterS": round(time.monotonic() - began, 1),
            "recordings": record(path, CALLS),
            "freeAfterHangUpS": {"stream": hang_up(path, {**long, **STREAM}, 3), "whole": hang_up(path, long, 0)},
            "otherPaths": {f"{method} {url}": ask(path, method, url, {} if method == "POST" else None)["status"] for method, url in CLOSED},
            "saysWhatWasAsked": any(word in log.read_text() for word in ("Weather", "Write a long", "Once upon")),
        }
    with served(around, spec_of(model), folder) as (path, log, engine):
        told["recordings"] += record(path, WITHOUT_PARSER)
        told["brokenStream"] = broken_stream(path, engine, {**long, **STREAM})
        told["brokenStream"]["log"] = words(log.read_text())
    told["flags"] = flags(around)
    told["failures"] = {name: failure(around, spec_of(broken, **more), folder) for name, (broken, more) in broken_models(model, folder).items()}
    shutil.rmtree(folder)
    text = json.dumps(told, indent=1, ensure_ascii=False)
    # Of the machine that it ran on nothing is told.
    for place, name in ((model, f"/{Path(model).name}"), (str(folder), "FOLDER"), (sys.prefix, "PREFIX"), (sys.base_prefix, "PREFIX"), (os.path.expanduser("~"), "HOME")):
        text = text.replace(place, name)
    Path(out).write_text(text + "\n")


if __name__ == "__main__":
    main()
