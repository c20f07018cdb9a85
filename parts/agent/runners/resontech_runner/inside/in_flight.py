"""What ended a run from inside it, as one line."""

from typing import Optional


def in_flight(error: Optional[BaseException]) -> str:
    """`sys.exit(3)` in the user's code reads "SystemExit: 3"; nothing in flight reads ""."""
    return "" if error is None else f"{type(error).__name__}: {error}"[:4096]
