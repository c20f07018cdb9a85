"""
A process that ends when whoever started it does: without that one it has nobody, also while it loads. What it started itself ends with the container,
whose first process sees the end of ours.
"""

import ctypes
import os
import signal
import sys

# https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html: it outlives exec.
_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    die_with_parent()
    os.execv(sys.argv[1], sys.argv[1:])
