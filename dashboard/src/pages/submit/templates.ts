/** What a form begins with, so that the first job of a person runs before anything is written. */
export const COMMAND_TEMPLATE = {
  file: "train.py",
  text: `"""Learns a line by gradient descent. What is printed as RT_METRIC becomes a curve of the job's page."""
import json
import random
import sys

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 50
random.seed(7)
points = [(x / 10, 3 * x / 10 + 1 + random.gauss(0, 0.1)) for x in range(20)]
slope, offset = 0.0, 0.0
for step in range(1, steps + 1):
    errors = [slope * x + offset - y for x, y in points]
    loss = sum(error * error for error in errors) / len(points)
    slope -= 0.1 * 2 * sum(e * x for e, (x, _) in zip(errors, points)) / len(points)
    offset -= 0.1 * 2 * sum(errors) / len(points)
    print("RT_METRIC " + json.dumps({"step": step, "loss": round(loss, 6)}))

# What lies here when the script ends is kept as a file of the job.
with open("/app/out/line.json", "w") as out:
    json.dump({"slope": slope, "offset": offset}, out)
print(f"y = {slope:.2f} x + {offset:.2f}")
`,
} as const;

export const PREDICTOR_TEMPLATE = {
  yaml: `model:
  module: serve
  class_name: Echo
  init_args:
    prefix: "> "
cluster:
  device: cpu
  max_ongoing_requests: 4
`,
  file: "serve.py",
  text: `"""Says what it got."""


class Echo:
    def __init__(self, prefix: str) -> None:
        """Called once for each replica, with init_args of inference.yaml."""
        self.prefix = prefix

    def predict(self, data: bytes) -> dict:
        """Called once for each request; what it returns is the answer, as JSON."""
        return {"said": self.prefix + data.decode("utf-8", "replace"), "bytes": len(data)}
`,
} as const;

/** The sample of the documents, on a machine that has the public client. */
export const DIGITS_IN_SHELL = `pip install resontech==0.3.0 torch numpy scikit-learn
cd examples/digits
python make_shards.py --out work
python submit.py --shards work/shards --out work
python evaluate.py --checkpoint work/checkpoint.pt --data work/held_out.npz`;
