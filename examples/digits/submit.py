"""Submit the digits job, follow it, fetch its model: all through the public `resontech` client, 0.3.0 or 0.2.1.

usage: submit.py --shards DIR --out DIR [--name NAME] [--rounds N] [--epochs N] [--workers ID,ID] [--detach]

The environment is the `[sdk quickstart]` block of the appliance's `data/credentials.txt`. Prints one JSON object a line; the last has
`state` and `accuracyByRound`, and DIR/checkpoint.pt is the trained global model. With `--detach` it ends once the job is accepted.
"""

import argparse
import inspect
import json
import os
import sys
import time
from pathlib import Path

from resontech import FederationConfig, ResonTech, ResonTechConfig, TrainingConfig

from digits_model import DigitsCNN

POLL_S = 1.0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default=time.strftime("digits-%Y%m%d-%H%M%S"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3, help="passes of each site over its shard in a round")
    parser.add_argument("--workers", type=lambda text: text.split(","), help="one for each shard, in its order; else the server chooses")
    parser.add_argument("--detach", action="store_true")
    arguments = parser.parse_args()

    sdk = ResonTech(
        ResonTechConfig(
            # The platform key comes from RESON_API_KEY, which the client reads itself.
            base_url=os.environ["RESON_BASE_URL"],
            s3_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"],
            s3_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"],
            s3_endpoint=os.environ["RESON_S3_ENDPOINT"],
            dashboard_url=os.environ["RESON_DASHBOARD_URL"],
        )
    )
    sites = len([file for file in arguments.shards.iterdir() if file.suffix.lower() == ".zip"])
    job = sdk.rt_submit(
        model=DigitsCNN,
        name=arguments.name,
        shards_dir=str(arguments.shards),
        training=TrainingConfig(local_epochs=arguments.epochs, batch_size=32, learning_rate=0.05),
        federation=FederationConfig(num_rounds=arguments.rounds, min_clients=sites, job_name=arguments.name),
        **worker_selection(sdk, arguments.workers),
    )
    tell(id=job.id, state=job.state.value)
    if arguments.detach:
        return 0

    state = follow(sdk, job.id)
    prefix = workspace_of(arguments.name)
    if state == "FINISHED":
        arguments.out.mkdir(parents=True, exist_ok=True)
        sdk.storage.boto3.download_file(sdk.storage.bucket, prefix + "model_out/checkpoint.pt", str(arguments.out / "checkpoint.pt"))
        tell(id=job.id, state=state, accuracyByRound=accuracy_by_round(sdk, prefix))
        return 0
    tell(id=job.id, state=state, error=sdk.dashboard.get_job(job.id).get("error"))
    return 1


def workspace_of(name: str) -> str:
    """The folder in the bucket that the client makes for a job of this name."""
    kept = [letter for letter in name.strip().lower().replace(" ", "-") if letter.isalnum() or letter in "-_"]
    return f"jobs/{''.join(kept) or 'job'}/"


def worker_selection(sdk: ResonTech, workers) -> dict:
    """0.3.0 wants models and a price unless workers are named; 0.2.1 knows neither."""
    if workers is not None:
        return {"worker_ids": workers}
    if "gpu_models" in inspect.signature(sdk.rt_submit).parameters:
        return {"gpu_models": ["cpu"], "max_price_per_gpu_hour": 1.00}
    return {"auto_select_workers": True}


def follow(sdk: ResonTech, job_id: str) -> str:
    """Prints each change; answers the last state's word."""
    told = None
    while True:
        job = sdk.jobs.get(job_id)
        news = {"state": job.state.value}
        if job.state.value == "RUNNING":
            runs = sdk.dashboard.list_nvflare_jobs(job_id)["jobs"]
            if runs:
                progress = sdk.dashboard.training_progress(job_id, runs[-1]["job_id"])
                if progress.current_round is not None:
                    news |= {"round": progress.current_round, "rounds": progress.num_rounds}
        if job.state.is_terminal:
            return job.state.value
        if news != told:
            tell(**news)
            told = news
        time.sleep(POLL_S)


def accuracy_by_round(sdk: ResonTech, prefix: str) -> list:
    """Mean over the sites of the accuracy that each logged of the global model it was handed, round by round."""
    body = sdk.storage.boto3.get_object(Bucket=sdk.storage.bucket, Key=prefix + "files_out/metrics.jsonl")["Body"].read()
    rounds: dict = {}
    for line in map(json.loads, body.decode().splitlines()):
        if line["kind"] == "metric" and "accuracy" in line["metric"]:
            rounds.setdefault(line["metric"]["round"], []).append(line["metric"]["accuracy"])
    return [round(sum(values) / len(values), 4) for _, values in sorted(rounds.items())]


def tell(**fields) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    sys.exit(main())
