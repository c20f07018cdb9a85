"""EXIT of contracts/src/agent/runner.ts."""

DONE = 0
FAILED = 1
STOPPED = 143

STOP_GRACE_S = 6.0
"""For the user's own handlers of SIGTERM, of the ten seconds that a stop may take."""
