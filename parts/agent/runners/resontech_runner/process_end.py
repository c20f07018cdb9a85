"""How a process ended, in words that name its exit code or signal."""

import signal
from typing import Optional


def end_in_words(code: Optional[int]) -> str:
    """
    @param code: as `Popen.returncode`: negative for a signal; None where nobody saw it
    """
    if code is None:
        return "ended"
    # A shell or a runtime may pass a signal on as 128 and its number.
    number = -code if code < 0 else code - 128 if 128 < code < 128 + signal.NSIG else None
    if number is None:
        return f"ended early with exit code {code}"
    try:
        return f"was ended by signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"was ended by signal {number}"
