"""From what was seen when a run broke to one reason of contracts/src/job-reasons.ts."""

import re
from dataclasses import dataclass
from typing import Optional

from .log_lines import last_lines

# A frame of the user's own code: the job's `custom` folder, whichever site ran it.
_USER_FRAMES = ("/custom/",)
_MEMORY = ("OutOfMemoryError", "CUDA out of memory", "MemoryError", "DefaultCPUAllocator: not enough memory")
_DISK = ("No space left on device", "Errno 28", "Disk quota exceeded")
_CONFIG = ("ConfigError", "UnsafeComponentError", "ComponentNotAuthorized", "JSONDecodeError")

# nvflare 2.9.0 fuel/utils/json_scanner.py: "Error processing '…' in element '…': path: '…', exception: 'KeyError: …'"
_WRAPPED = re.compile(r"exception: '(.*?) ?'$")


@dataclass(frozen=True)
class Failure:
    reason: str
    message: str
    detail: Optional[str] = None


@dataclass(frozen=True)
class SiteError:
    """What one site's component reported when a task failed there."""

    site: str
    code: str
    text: str


def failure_of(
    summary: str,
    tracebacks: list[str],
    site_errors: list[SiteError],
    out_of_memory: bool = False,
) -> Failure:
    """`summary` is NVFlare's own word on why the run ended; the newest evidence of the user's code wins."""
    if out_of_memory:
        return Failure("out_of_memory", "a process was killed: the memory limit of the container was reached", _last(tracebacks))

    if site_errors:
        first = site_errors[0]
        detail = last_lines(first.text) if first.text else None
        return Failure(_reason_in(first.text) or "user_exception", f"{first.site}: {_headline(first.text) or first.code}", detail)

    user = [text for text in tracebacks if any(frame in text for frame in _USER_FRAMES)]
    if user:
        return Failure(_reason_in(user[-1]) or "user_exception", _headline(user[-1]), last_lines(user[-1]))

    text = _last(tracebacks)
    if text is None:
        return Failure("federation_failed", summary)
    reason = _reason_in(text)
    if reason is None:
        reason = "config_invalid" if any(word in text for word in _CONFIG) else "federation_failed"
    return Failure(reason, f"{summary}: {_headline(text)}", last_lines(text))


def _reason_in(text: str) -> Optional[str]:
    if any(word in text for word in _DISK):
        return "disk_limit"
    if any(word in text for word in _MEMORY):
        return "out_of_memory"
    return None


def _headline(text: str) -> str:
    """The last line of a traceback: what was raised; out of NVFlare's ConfigError, what it wraps."""
    lines = text.strip().splitlines()
    if not lines:
        return ""
    wrapped = _WRAPPED.search(lines[-1])
    return (wrapped.group(1) if wrapped else lines[-1])[:500]


def _last(tracebacks: list[str]) -> Optional[str]:
    return tracebacks[-1] if tracebacks else None
