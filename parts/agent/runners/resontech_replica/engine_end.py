"""Pure: why an engine ended, as a reason of contracts/src/job/job-reasons.ts."""

import re
import signal
from dataclasses import dataclass
from typing import Optional, Sequence

from resontech_runner.process_end import end_in_words

from .attend import ReplicaEnd


@dataclass(frozen=True)
class EndWords:
    """What an engine prints before it ends; of several lines that fit the first one is the cause."""

    no_memory: re.Pattern[str]
    bad_weights: re.Pattern[str]
    """Only believed of an engine that had not loaded yet."""
    error: re.Pattern[str]
    """Any other error, by its name and words. Where no line fits, the last line counts: a library that aborts says why and no more."""
    prefix: re.Pattern[str] = re.compile(r"^\s*")
    """What stands before the words of a line, and says nothing of the cause."""


def engine_end(words: EndWords, code: Optional[int], was_loaded: bool, was_killed_for_memory: bool, said: Sequence[str]) -> ReplicaEnd:
    """
    @param code: as `Popen.returncode`
    @param said: the last lines of what it printed
    """
    detail = "\n".join(said)
    no_memory = _first(words, words.no_memory, said)
    if was_killed_for_memory:
        return ReplicaEnd("out_of_memory", "the engine was killed: the memory limit of the container was reached", detail)
    if no_memory is not None:
        return ReplicaEnd("out_of_memory", f"the engine got no memory: {no_memory}", detail)
    bad_weights = None if was_loaded else _first(words, words.bad_weights, said)
    if bad_weights is not None:
        return ReplicaEnd("user_exception", f"the weights could not be loaded: {bad_weights}", detail)
    ended = f"the engine {end_in_words(code)}"
    error = _first(words, words.error, said)
    # One that had loaded may have been asked things, and a line of its own may repeat them; what aborts itself says where it broke.
    if error is None and (not was_loaded or code == -signal.SIGABRT):
        error = _last(words, said)
    return ReplicaEnd("payload_exited", ended if error is None else f"{ended}: {error}", detail)


def _first(words: EndWords, pattern: re.Pattern[str], lines: Sequence[str]) -> Optional[str]:
    told = (words.prefix.sub("", line).strip() for line in lines)
    return next((line for line in told if pattern.search(line)), None)


def _last(words: EndWords, lines: Sequence[str]) -> Optional[str]:
    told = (words.prefix.sub("", line).strip() for line in reversed(lines))
    return next((line for line in told if line), None)
