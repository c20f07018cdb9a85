"""Sums the columns of every CSV among the inputs, and says so."""
import csv
import json
import os
import pathlib
import socket

inputs, out = pathlib.Path(os.environ["RESONTECH_INPUT_DIR"]), pathlib.Path(os.environ["RESONTECH_OUT_DIR"])
sums = {}
for file in sorted(inputs.rglob("*.csv")):
    sums[str(file.relative_to(inputs))] = sum(float(value) for row in csv.reader(file.open()) for value in row)
print('RT_METRIC {"step": 1, "sum": 16}', flush=True)
print("summed", len(sums), "files at level", os.environ["LEVEL"], flush=True)
try:
    socket.create_connection(("198.18.0.1", 80), timeout=2)
    reached = True
except OSError:
    reached = False
(out / "table").mkdir()
(out / "table" / "sums.json").write_text(json.dumps({"sums": sums, "reached": reached, "uid": os.getuid()}))
