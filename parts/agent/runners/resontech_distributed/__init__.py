"""Runs a training of several ranks inside containers that reach one member alone. The file contract with the agent is contracts/src/agent/runner.ts."""
