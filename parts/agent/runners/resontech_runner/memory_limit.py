"""What the control group of this container says of memory: its limit, and whether the kernel killed a process for it."""

import re
from pathlib import Path
from typing import Optional

_FILES = ("memory.events", "memory/memory.oom_control", "memory.oom_control")
"""Version 2, version 1 as mounted in containers, version 1 mounted alone."""
_LIMITS = ("memory.max", "memory/memory.limit_in_bytes", "memory.limit_in_bytes")
# Version 1 says a number near the largest there is where nothing limits.
_NO_LIMIT = 1 << 60


def oom_kills(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    for name in _FILES:
        try:
            found = re.search(r"^oom_kill (\d+)$", (cgroup / name).read_text(), re.MULTILINE)
        except OSError:
            continue
        if found:
            return int(found.group(1))
    return 0


def memory_limit_bytes(cgroup: Path = Path("/sys/fs/cgroup")) -> Optional[int]:
    """What the processes of this container may use together; null where nothing limits them."""
    for name in _LIMITS:
        try:
            said = (cgroup / name).read_text().strip()
        except OSError:
            continue
        return None if said == "max" or int(said) >= _NO_LIMIT else int(said)
    return None
