"""Pure: why the engine ended, as a reason of contracts/src/job/job-reasons.ts."""

import re
from typing import Optional, Sequence

from resontech_replica.attend import ReplicaEnd
from resontech_runner.process_end import end_in_words

_NO_MEMORY = re.compile(r"failed to allocate|unable to allocate|cannot allocate memory|bad_alloc|out of memory", re.IGNORECASE)
# llama.cpp's words for weights that it can't read; the first one is the cause, later ones only say that all is over.
_BAD_WEIGHTS = re.compile(r"error loading model|invalid magic|failed to load model|unknown model architecture|tensor .* (?:not found|out of)", re.IGNORECASE)



def engine_end(code: Optional[int], was_loaded: bool, was_killed_for_memory: bool, said: Sequence[str]) -> ReplicaEnd:
    """
    @param code: as `Popen.returncode`
    @param said: the last lines of what it printed
    """
    detail = "\n".join(said)
    no_memory = _first(_NO_MEMORY, said)
    if was_killed_for_memory:
        return ReplicaEnd("out_of_memory", "the engine was killed: the memory limit of the container was reached", detail)
    if no_memory is not None:
        return ReplicaEnd("out_of_memory", f"the engine got no memory: {no_memory}", detail)
    bad_weights = None if was_loaded else _first(_BAD_WEIGHTS, said)
    if bad_weights is not None:
        return ReplicaEnd("user_exception", f"the weights could not be loaded: {bad_weights}", detail)
    return ReplicaEnd("payload_exited", f"the engine {end_in_words(code)}", detail)


def _first(pattern: re.Pattern, lines: Sequence[str]) -> Optional[str]:
    return next((line.strip() for line in lines if pattern.search(line)), None)
