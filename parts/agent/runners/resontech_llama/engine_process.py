"""llama.cpp's own server, in a process of its own: what ends it ends nothing else. Told all by one line of JSON on its standard input."""

import json
import signal
import sys
from typing import Any

# Errors and warnings. What a caller asks is in none of them unless the engine breaks over it.
_VERBOSITY = 2
_STEP_TOKENS = 64


def main() -> int:
    server = _serve(json.loads(sys.stdin.readline()))
    while server is not None:
        signal.pause()
    return 0


def _serve(said: dict[str, Any]):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = said["modelPath"]
    # Else its answers name the file.
    params.model_alias = {said["name"]}
    # A name that ends so is a Unix socket's.
    params.hostnames = [said["socket"]]
    params.n_parallel = said["slots"]
    params.n_ctx = said["slots"] * said["contextTokens"]
    params.embedding = said["embeds"]
    # A text is embedded in one step. Of a prompt a step is what can't be cut short, and what the tokens of others wait for: small steps
    # cost a seventh of its speed (measured: 140 tokens a CPU second, not 162).
    params.n_batch = params.n_ubatch = said["contextTokens"] if said["embeds"] else _STEP_TOKENS
    if said["pooling"] is not None:
        params.pooling_type = xllamacpp.llama_pooling_type[f"LLAMA_POOLING_TYPE_{said['pooling'].upper()}"]
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads = said["threads"]
    params.n_threads_http = said["slots"] + 4
    params.n_gpu_layers = 0
    # Prompts are kept in their slots alone: the default is 8 GiB more.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    # No page of anybody's asks it: it is on a Unix socket, and its answers' headers go no further.
    params.cors_origins = ""
    # A talk that ends with the model's own words is answered anew, as by OpenAI's API and vLLM. To write on breaks the engine where a form is asked for.
    params.prefill_assistant = False
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.endpoint_props = False
    # Asked by the program around it alone: an answer shows that the engine's loop turns.
    params.endpoint_metrics = True
    params.verbosity = _VERBOSITY
    return xllamacpp.Server(params)


if __name__ == "__main__":
    sys.exit(main())
