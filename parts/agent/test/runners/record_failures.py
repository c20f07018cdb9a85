"""Runs broken federations on real NVFlare, and prints what each member's runner said and how it ended, as JSON.

The proof `dashboard-tasks` tells a coordinator the same, so that its pages are tried on causes that real jobs had. Run as root, with a job image:

    RT_TEST_JOB_ROOT=… python3 record_failures.py > proofs/bench/dashboard/recorded-failures.json
"""

import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from federation import Federation, JobImage
from test_attempts import SOURCE, TIMEOUT_S, forge

SITES = ("site-1", "site-2")
ROUNDS = 3
# Of a member that was still well when the server ended: the agent ends it, and nobody asks why.
LINGER_S = 20
# What a job says on its way, and not why it ended.
LEFT_OUT = ("metric", "standing", "progress")


def in_model(before: str):
    def change(forged):
        scripts = forged["scripts"]
        return {**forged, "scripts": {**scripts, "model_def.py": before + scripts["model_def.py"]}}

    return change


def in_training(statements: str):
    """Statements at the beginning of what a site does in each round."""
    body = "".join(f"    {line}\n" for line in statements.splitlines())
    return SOURCE + f"\n\ntrain = fl_train\n\n\ndef fl_train(model, env, out_dir, logger=None):\n{body}    return train(model, env, out_dir, logger)\n"


DIVERGED = in_training(
    """\
result = train(model, env, out_dir, logger)
weights = dict(result["weights"])
if int(env["CURRENT_ROUND"]) > 0:
    weights[next(iter(weights))] *= float("nan")
return {**result, "weights": weights}"""
)
FAILURES = {
    "wrong_import": {"change": in_model("import torchvison\n")},
    "syntax_error": {"change": in_model("def widen(layers:\n    return layers\n")},
    "wrong_path": {"source": in_training('open("/app/payload/train/labels.csv").read()')},
    "site_exception": {"source": in_training('if env["SITE_NAME"] == "site-2":\n    raise ValueError("row 1742 of scans.csv has no label")')},
    "model_of_nan": {"source": DIVERGED, "spec": {"refusesNonFinite": True}},
    # The kernel's own error of a full disk.
    "disk_full": {"source": in_training('with open("/dev/full", "w") as file:\n    file.write("activations" * 10_000)')},
}


def record(image: JobImage, name: str) -> dict:
    failure = FAILURES[name]
    forged = forge(image, failure.get("source", SOURCE), ROUNDS, SITES)
    forged = failure.get("change", lambda same: same)(forged)
    with tempfile.TemporaryDirectory(prefix="rt-failure-") as folder:
        Path(folder).chmod(0o755)
        federation = Federation(Path(folder) / "attempt", image, list(SITES), forged, spec=failure.get("spec"))
        with contextlib.closing(federation):
            federation.start()
            exits = {"server": federation.wait("server", TIMEOUT_S)}
            for site in SITES:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    exits[site] = federation.wait(site, LINGER_S)
            return {
                member: {
                    "exitCode": exits.get(member),
                    "events": [event for event in federation.events(member) if event["kind"] not in LEFT_OUT],
                }
                for member in ("server", *SITES)
            }


def main() -> int:
    image = JobImage.from_environment()
    recorded = {}
    for name in sys.argv[1:] or FAILURES:
        recorded[name] = record(image, name)
        print(name, recorded[name]["server"]["events"][-1:], file=sys.stderr, flush=True)
    print(json.dumps(recorded, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
