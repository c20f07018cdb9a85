"""Runs NVFlare inside a job's container. The file contract with the agent is contracts/src/agent/runner.ts."""
