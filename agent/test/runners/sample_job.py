"""A job as the public client 0.3.0 renders it, with the user's module as text. The client itself is in the job image."""

import importlib.util
import json
import sys
from pathlib import Path

MODEL_SOURCE = Path(__file__).resolve().parents[3] / "examples/digits/digits_model.py"
ROUNDS = 3


def render(folder: Path, source: str, model_class: str = "DigitsCNN", rounds: int = ROUNDS, sites: int = 2):
    """`(scripts, configs)`; `source` is imported here, as the client needs the class, from a file in `folder`."""
    from resontech.rt.builder import RTJobBuilder
    from resontech.rt.config import FederationConfig, ModelConfig, TrainingConfig

    name = f"user_module_{abs(hash(source))}"
    file = folder / f"{name}.py"
    file.write_text(source)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)

    builder = RTJobBuilder(
        TrainingConfig(local_epochs=2, batch_size=32, learning_rate=0.05),
        FederationConfig(num_rounds=rounds, min_clients=sites, job_name="digits"),
        ModelConfig(),
    )
    scripts = builder.render_scripts(getattr(module, model_class))
    rendered = builder.render_configs()
    configs = {
        "config_fed_client.json": rendered["client"],
        "config_fed_server.json": rendered["server"],
        "meta.json": rendered["meta"],
    }
    return scripts, configs


def with_workflow(configs: dict[str, str], path: str, arguments: dict) -> dict[str, str]:
    """The same job under another NVFlare workflow."""
    server = json.loads(configs["config_fed_server.json"])
    server["workflows"] = [{"id": "workflow", "path": path, "args": arguments}]
    return {**configs, "config_fed_server.json": json.dumps(server)}
