"""Deploys an echo by the unmodified client, calls it, and prints one JSON object."""

import json
import os
import tempfile
from pathlib import Path

from resontech import InferenceClient, InferenceConfig, ResonTech, ResonTechConfig

YAML = """
model:
  module: "predictors.echo_serve"
  class_name: "EchoPredictor"
  init_args:
    prefix: "> "
cluster:
  num_workers: 1
  device: "cpu"
  gpus_per_worker: 0
  cpus_per_worker: 1
  mode: "data_parallel"
  max_ongoing_requests: 4
"""
SCRIPT = '''
class EchoPredictor:
    def __init__(self, prefix):
        self.prefix = prefix

    def load_weights(self, path):
        self.weights = open(path).read()

    def predict(self, data):
        return {"said": self.prefix + data.decode(), "bytes": len(data)}
'''

sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
        dashboard_url=os.environ["RESON_DASHBOARD_URL"],
    )
)
with tempfile.TemporaryDirectory() as folder:
    root = Path(folder)
    (root / "inference.yaml").write_text(YAML)
    (root / "scripts/predictors").mkdir(parents=True)
    (root / "scripts/predictors/__init__.py").write_text("")
    (root / "scripts/predictors/echo_serve.py").write_text(SCRIPT)
    job = sdk.rt_submit_inference(
        "minimal echo",
        InferenceConfig(model_name="Echo", entry_file="echo.py", gpu_models=["cpu"], max_price_per_gpu_hour=10.0),
        inference_yaml=str(root / "inference.yaml"),
        scripts_dir=str(root / "scripts"),
    )
job.wait_until_ready(timeout=120, poll=0.5)
client = InferenceClient.from_job(job)
said = client.predict(b"hello", request_id="r-1")
many = client.predict_many([f"{at}".encode() for at in range(20)], concurrency=4)
print(
    json.dumps(
        {
            "id": job.id,
            "said": said,
            "many": [one["said"] for one in many],
            "json": client.predict_json({"a": 1}),
            "b64": client.predict_b64(b"x"),
            "health": client.health(),
            "replica": client.last_response_headers.get("x-replica-id"),
        }
    )
)
