"""Whether the kernel killed a process of this container for memory, told by its control group."""

import re
from pathlib import Path

_FILES = ("memory.events", "memory/memory.oom_control", "memory.oom_control")
"""Version 2, version 1 as mounted in containers, version 1 mounted alone."""


def oom_kills(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    for name in _FILES:
        try:
            found = re.search(r"^oom_kill (\d+)$", (cgroup / name).read_text(), re.MULTILINE)
        except OSError:
            continue
        if found:
            return int(found.group(1))
    return 0
