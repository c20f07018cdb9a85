"""Deploys a classifier with a checkpoint by the unmodified client, sends images, and prints one JSON object.

The folder /work has `scripts/`, `classifier.pt` and `person.jpg`.
"""

import json
import os
from pathlib import Path

from resontech import InferenceClient, InferenceConfig, ResonTech, ResonTechConfig
from resontech.exceptions import ResonTechError

WORK = Path("/work")
sdk = ResonTech(
    ResonTechConfig(
        base_url=os.environ["RESON_BASE_URL"],
        s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
        s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
        s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
        dashboard_url=os.environ["RESON_DASHBOARD_URL"],
    )
)
job = sdk.rt_submit_inference(
    name="Image Classification",
    inference=InferenceConfig(
        visibility="PRIVATE", gpu_models=["cpu"], max_price_per_gpu_hour=2.5, only_mine_workers=True
    ),
    inference_yaml="/example/inference.yaml",
    scripts_dir=str(WORK / "scripts"),
    model_file=str(WORK / "classifier.pt"),
)
job.wait_until_ready(timeout=180, poll=0.5)
client = InferenceClient.from_job(job)
try:
    not_an_image = client.predict(b"no image", content_type="image/jpeg")
except ResonTechError as error:
    not_an_image = str(error)
print(
    json.dumps(
        {
            "id": job.id,
            "person": client.predict_file(WORK / "person.jpg"),
            "as_base64": client.predict_b64((WORK / "person.jpg").read_bytes()),
            "many": len(client.predict_many([(WORK / "person.jpg").read_bytes()] * 4, concurrency=4)),
            "not_an_image": not_an_image,
            "health": client.health(),
        }
    )
)
