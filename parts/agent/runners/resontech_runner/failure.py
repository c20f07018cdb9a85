"""From what was seen when a run broke to one reason of contracts/src/job/job-reasons.ts."""

import re
from dataclasses import dataclass
from typing import Optional

from .log_lines import last_lines, raised_in

# A frame of the user's own code: the job's `custom` folder, whichever site ran it.
_USER_FRAMES = ("/custom/",)
_CONFIG = ("ConfigError", "UnsafeComponentError", "ComponentNotAuthorized", "JSONDecodeError")

# Who raises them matters: a `ValueError` that only speaks of a full disk is the user's own.
_MEMORY = re.compile(r"^[\w.]*(?:OutOfMemoryError|MemoryError)\b|^RuntimeError: .*(?:CUDA out of memory|DefaultCPUAllocator: .*memory)", re.DOTALL)
_DISK = re.compile(r"^(?:[\w.]*(?:OSError|IOError|FileNotFoundError)|RuntimeError): .*(?:No space left on device|Errno 28|Disk quota exceeded)", re.DOTALL)
_SHARED_MEMORY = re.compile(r"/dev/shm|shared memory|</?torch_\d+", re.IGNORECASE)

# What NVFlare 2.9.0 says of a federation that lost its members or their connection; all else that ends a run that began comes from what the
# job brought: its code, its data, its configuration.
_LOST_ONE_ANOTHER = re.compile(
    r"deployment policy violation|COMM_ERROR|cannot sync with|failed to download from|StatusCode\.UNAVAILABLE"
    r"|connection (?:broke|refused|reset)|did not take the committed model",
    re.IGNORECASE,
)

# nvflare 2.9.0 fuel/utils/json_scanner.py: "Error processing '…' in element '…': path: '…', exception: 'KeyError: …'"
_WRAPPED = re.compile(r"exception: '(.*?) ?'$")

# nvflare 2.9.0 fuel/utils/component_builder.py, of a module of the job that can't be imported.
_NOT_LOADED = re.compile(r"^ValueError: failed to instantiate class: TypeError: (Can't load )class (\S+: .*)$")

_HEADLINE_CHARS = 500


@dataclass(frozen=True)
class Failure:
    reason: str
    message: str
    detail: Optional[str] = None
    site: Optional[str] = None
    """Whose failure it was, where the server tells of a site's."""


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
    has_begun: bool = False,
) -> Failure:
    """
    The newest evidence of the user's code wins.

    @param summary: NVFlare's own word on why the run ended
    @param has_begun: the job's own code ran: what breaks from then on is the job's, unless the federation fell apart
    """
    if out_of_memory:
        return Failure("out_of_memory", "a process was killed: the memory limit of the container was reached", _last(tracebacks))

    if site_errors:
        first = site_errors[0]
        detail = last_lines(first.text) if first.text else None
        headline = headline_of(first.text) or first.code
        return Failure(_reason_in(first.text) or "user_exception", f"{first.site}: {headline}", detail, first.site)

    user = [text for text in tracebacks if any(frame in text for frame in _USER_FRAMES)]
    if user:
        return Failure(_reason_in(user[-1]) or "user_exception", headline_of(user[-1]), last_lines(user[-1]))

    text = _last(tracebacks)
    fell_apart = not has_begun or _LOST_ONE_ANOTHER.search(summary) is not None
    if text is None:
        return Failure("federation_failed" if fell_apart else "user_exception", summary)
    reason = _reason_in(text)
    if reason is None and any(word in text for word in _CONFIG):
        reason = "config_invalid"
    if reason is None:
        reason = "federation_failed" if fell_apart else "user_exception"
    return Failure(reason, f"{summary}: {headline_of(text)}", last_lines(text))


def _reason_in(text: str) -> Optional[str]:
    for raised in raised_in(text):
        if _DISK.match(raised):
            return "shared_memory_full" if _SHARED_MEMORY.search(raised) else "disk_limit"
        if _MEMORY.match(raised):
            return "out_of_memory"
        if raised.startswith("RuntimeError: DataLoader worker") and _SHARED_MEMORY.search(raised):
            return "shared_memory_full"
    return None


def headline_of(text: str) -> str:
    """Type and message of what was raised, on one line; of a group also its first member; out of NVFlare's ConfigError what it wraps."""
    raised = raised_in(text)
    if not raised:
        return next(reversed([line for line in text.splitlines() if line.strip()]), "")[:_HEADLINE_CHARS]
    headline = " ".join(raised[-1].split())
    wrapped = _WRAPPED.search(headline)
    inner = wrapped.group(1) if wrapped else headline
    return _NOT_LOADED.sub(r"\1\2", inner)[:_HEADLINE_CHARS]


def _last(tracebacks: list[str]) -> Optional[str]:
    return tracebacks[-1] if tracebacks else None
