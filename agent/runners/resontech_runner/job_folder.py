"""The folder that NVFlare takes as a job: the user's files byte for byte, in NVFlare's places."""

import json
import shutil
from pathlib import Path

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
