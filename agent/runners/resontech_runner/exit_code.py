"""EXIT of contracts/src/runner.ts."""

DONE = 0
FAILED = 1
STOPPED = 143
