"""
A process that ends when whoever started it does: without that one it has nobody, also while it loads. What it started itself ends with the container,
whose first process sees the end of ours.
"""

import ctypes
import os
import signal
import sys
from typing import Optional

# https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html: it outlives exec.
_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: Optional[int] = None) -> None:
    """@param parent: its process, where that may have ended already: nobody tells of an end that came before"""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])
