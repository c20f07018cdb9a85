"""Serves a user's predictor over HTTP, inside its container. Standard library alone."""
