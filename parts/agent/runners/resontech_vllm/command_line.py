"""Pure: how vLLM's server is started: its arguments and its environment, for vLLM 0.32 and 0.33."""

from pathlib import Path
from typing import Mapping, Sequence

from .spec import VllmSpec

# A media URL that is none of this place is refused before anything is dialled; pictures come as `data:` URLs.
_NOWHERE = "nowhere.invalid"
# Of one call: each has the room of a call of its own.
_MAX_ANSWERS = 64

# Off by default, and said all the same: a later version has no say in it.
_OFF = ("lora", "sleep-mode", "prompt-embeds", "mm-embeds", "tokenizer-info-endpoint", "request-id-headers", "log-requests", "log-outputs")
# From this version on `--enable-X` is taken back by `--disable-X`, before by `--no-enable-X`.
_SAYS_DISABLE = (0, 33)


def arguments(spec: VllmSpec, socket: Path, version: str) -> Sequence[str]:
    """
    Behind `vllm serve`. Each value is bound to its name by `=`: one that begins with a dash is no argument of its own.

    @param version: of vLLM
    """
    off = "--disable-" if _first_two(version) >= _SAYS_DISABLE else "--no-enable-"
    parsers = [
        *([] if spec.tool_call_parser is None else ["--enable-auto-tool-choice", f"--tool-call-parser={spec.tool_call_parser}"]),
        *([] if spec.reasoning_parser is None else [f"--reasoning-parser={spec.reasoning_parser}"]),
    ]
    return [
        str(spec.model_path),
        f"--uds={socket}",
        # Else its answers name the folder.
        f"--served-model-name={spec.name}",
        f"--max-model-len={spec.context_tokens}",
        f"--max-num-seqs={spec.slots}",
        f"--gpu-memory-utilization={spec.memory_share}",
        f"--tensor-parallel-size={spec.devices}",
        # Nothing of a folder is run: no pickles, no code of the model's.
        "--load-format=safetensors",
        "--no-trust-remote-code",
        "--no-trust-request-chat-template",
        "--no-trust-request-mm-kwargs",
        f"--allowed-media-domains={_NOWHERE}",
        *(off + name for name in _OFF),
        # What is asked and answered stands in no log of the engine's.
        "--disable-uvicorn-access-log",
        "--uvicorn-log-level=warning",
        "--disable-fastapi-docs",
        # What it is made of is nobody's business.
        "--fingerprint-mode=none",
        *parsers,
    ]


def environment(threads: int) -> Mapping[str, str]:
    """
    Beside what every container has.

    @param threads: of processors, that it may use
    """
    return {
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        # Warnings and errors: what a caller asks is in none of them.
        "VLLM_LOGGING_LEVEL": "WARNING",
        # Routes to put it to sleep, and to call whatever it has.
        "VLLM_SERVER_DEV_MODE": "0",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "0",
        "VLLM_ALLOW_INSECURE_SERIALIZATION": "0",
        # Packages of the image that would plug themselves in: none.
        "VLLM_PLUGINS": "",
        # It would compile kernels while somebody waits.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
        "VLLM_MAX_N_SEQUENCES": str(_MAX_ANSWERS),
        "VLLM_MEDIA_URL_ALLOW_REDIRECTS": "0",
        # Its parts talk to one another, and to nobody else: it would ask its host for a name of its own.
        "VLLM_HOST_IP": "127.0.0.1",
        "GLOO_SOCKET_IFNAME": "lo",
        "VLLM_CACHE_ROOT": "/tmp/vllm",
        # More threads than the quota thrash: the libraries would start one for each core of the host.
        "OMP_NUM_THREADS": str(threads),
    }


def _first_two(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)
