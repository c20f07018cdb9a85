"""The folder that NVFlare takes as a job: the user's files byte for byte, in NVFlare's places.

A resumed attempt alone runs with a changed copy, and says what was changed: the workflow's rounds and the model to start from.
"""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from .spec import Resume

APP_CONFIGS = ("config_fed_server.json", "config_fed_client.json")


def assemble_job(scripts: Path, configs: Path, target: Path) -> None:
    """`meta.json`, and for each app that its `deploy_map` names the configs in `config/` and the scripts in `custom/`."""
    target.mkdir(parents=True)
    meta_bytes = (configs / "meta.json").read_bytes()
    (target / "meta.json").write_bytes(meta_bytes)
    deploy_map = json.loads(meta_bytes).get("deploy_map") or {"app": ["@ALL"]}
    for app in deploy_map:
        if app in ("", ".", "..") or "/" in app:
            raise ValueError(f"deploy_map names an app {app!r}")
        # Helper modules, shard-independent data, further folders: all of it is the user's. Links stay out of a signed folder.
        shutil.copytree(scripts, target / app / "custom", copy_function=shutil.copyfile)
        shutil.copytree(configs, target / app / "config", copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("meta.json"))


def resume_job(target: Path, resume: Resume) -> dict[str, str]:
    """Makes an assembled job go on from a committed round; answers the SHA-256 of each file that it wrote, by its path.

    nvflare 2.9.0: the listed workflows run `num_rounds` rounds from `start_round` (app_common/workflows/scatter_and_gather.py,
    fedavg.py); the persistor loads `source_ckpt_file_full_name` before what `config/environment.json` names in `APP_CKPT`
    (app_opt/pt/file_model_persistor.py). Both take an absolute path.
    """
    written = {}
    for config in target.glob("*/config/config_fed_server.json"):
        server = json.loads(config.read_text(encoding="utf-8"))
        (workflow,) = server["workflows"]
        arguments = workflow.setdefault("args", {})
        arguments.update(start_round=resume.start_round, num_rounds=resume.rounds_left)
        persistor_id = arguments.get("persistor_id", "persistor")
        for component in server.get("components", []):
            if component.get("id") == persistor_id and "source_ckpt_file_full_name" in component.get("args", {}):
                component["args"]["source_ckpt_file_full_name"] = str(resume.model_file)
        environment = config.with_name("environment.json")
        known = json.loads(environment.read_text(encoding="utf-8")) if environment.exists() else {}
        for file, content in ((config, server), (environment, {**known, "APP_CKPT": str(resume.model_file)})):
            written[str(file.relative_to(target))] = _rewrite(file, content)
    return written


def _rewrite(file: Path, content: dict[str, Any]) -> str:
    text = json.dumps(content, indent=2).encode("utf-8")
    file.write_bytes(text)
    return hashlib.sha256(text).hexdigest()
