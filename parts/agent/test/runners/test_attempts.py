"""Whole attempts on real NVFlare, as plain processes (federation.py). Run by runners*.test.ts with the host's Python;
NVFlare and the user's code run with the job image's."""

import functools
import hashlib
import json
import shutil
import sys
import tempfile
import time
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent))

from federation import Federation, JobImage, ResumeFrom

SITES = ["site-1", "site-2"]
EXAMPLE = (Path(__file__).resolve().parents[4] / "examples/digits/digits_model.py").read_text()
# The first optimizer of torch loads its compiler: a second of each training process, and most attempts are not about training.
SOURCE = EXAMPLE.replace(
    'optimizer = torch.optim.SGD(model.parameters(), lr=env["LR"], momentum=0.9)',
    'optimizer = Descent(model, env["LR"])',
) + '''

class Descent:
    def __init__(self, model, rate):
        self.model, self.rate = model, rate

    def zero_grad(self):
        self.model.zero_grad()

    def step(self):
        with torch.no_grad():
            for weights in self.model.parameters():
                if weights.grad is not None:
                    weights -= self.rate * weights.grad
'''
assert "torch.optim" not in SOURCE
# After this an attempt hangs; below NVFlare's own 300 s. Four federations side by side took 57 s each on two cores.
TIMEOUT_S = 180


def with_workflow(configs: dict[str, str], path: str, arguments: dict) -> dict[str, str]:
    """The same job under another NVFlare workflow."""
    server = json.loads(configs["config_fed_server.json"])
    server["workflows"] = [{"id": "workflow", "path": path, "args": arguments}]
    return {**configs, "config_fed_server.json": json.dumps(server)}


@functools.cache
def forge(image: JobImage, source: str, rounds: int, sites: tuple[str, ...]) -> dict:
    """Attempts may share what is made for them: no test changes it, and each attempt has a network of its own."""
    return image.forge({"source": source, "modelClass": "DigitsCNN", "rounds": rounds, "sites": sites})


class AttemptTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="rt-attempt-"))
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    sites = SITES
    rounds = 3

    def begin(
        self,
        source: str = SOURCE,
        change=None,
        resume=None,
        far: tuple[str, ...] = (),
        environment: Optional[dict[str, str]] = None,
        spec: Optional[dict] = None,
    ) -> Federation:
        image = JobImage.from_environment()
        forged = forge(image, source, self.rounds, tuple(self.sites))
        if change is not None:
            scripts, configs = change(forged["scripts"], forged["configs"])
            forged = {**forged, "scripts": scripts, "configs": configs}
        folder = self.folder / ("attempt" if resume is None else "resumed")
        federation = Federation(folder, image, self.sites, forged, resume, far, environment, spec)
        self.addCleanup(federation.close)
        federation.start()
        return federation

    def end(self, federation: Federation, member: str = "server") -> int:
        try:
            return federation.wait(member, TIMEOUT_S)
        except Exception:
            self.fail(f"{member} did not end: {federation.events(member)}\n{federation.log(member)[-4000:]}")

    def until(self, holds: Callable[[], bool], federation: Federation) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not holds():
            if time.monotonic() > deadline:
                logs = [f"{member}: {federation.log(member)[-4000:]}" for member in ("server", *self.sites)]
                self.fail("\n".join([str(federation.events("server")), *logs]))
            time.sleep(0.05)

    def assert_failed(self, federation: Federation, reason: str, member: str = "server") -> dict:
        self.assertEqual(self.end(federation, member), 1, federation.log(member)[-3000:])
        last = federation.events(member)[-1]
        self.assertEqual((last["kind"], last["reason"]), ("failed", reason), last)
        self.assertEqual(federation.kinds(member).count("failed"), 1)
        return last


# Says a metric as it is imported, and one by a method of its logger, which client 0.3.0's executor makes a plain function.
SAYING = EXAMPLE + '''
print("RT_METRIC " + json.dumps({"imported": True}))
train = fl_train


def fl_train(model, env, out_dir, logger=None):
    logger.info("RT_METRIC %s", json.dumps({"method": True}))
    return train(model, env, out_dir, logger)
'''


class Success(AttemptTest):
    def test_three_rounds_end_in_a_model_with_metrics_of_every_site(self):
        federation = self.begin(SAYING)
        self.assertEqual([self.end(federation, member) for member in ("server", *SITES)], [0, 0, 0])

        events = federation.events("server")
        kinds = [event["kind"] for event in events]
        self.assertEqual(kinds[0], "ready")
        self.assertEqual(sorted(event["site"] for event in events if event["kind"] == "site-registered"), SITES)
        self.assertLess(kinds.index("site-registered"), kinds.index("job-started"))
        ends = [event for event in events if event["kind"] == "round-ended"]
        self.assertEqual([(event["round"], event["sites"]) for event in ends], [(n, SITES) for n in range(3)])
        self.assertEqual(len({event["modelSha256"] for event in ends}), 3)

        finished = events[-1]
        model = federation.folder / "server" / finished["modelFile"].lstrip("/")
        self.assertEqual(finished["modelName"], "GLOBAL_MODEL.pt")
        self.assertEqual(hashlib.sha256(model.read_bytes()).hexdigest(), ends[-1]["modelSha256"])

        lines = [json.loads(line) for line in (federation.folder / "server/rt/events/metrics.jsonl").read_text().splitlines()]
        for site in SITES:
            rounds = [line["metric"].get("round") for line in lines if line["kind"] == "metric" and line["site"] == site]
            self.assertEqual([number for number in rounds if number is not None], [0, 1, 2])
        for said in ({"imported": True}, {"method": True}):
            self.assertEqual({line["site"] for line in lines if line.get("metric") == said}, set(SITES))
        for number in range(3):
            self.assert_metrics_inside_round(lines, number)
        log = (federation.folder / "server/rt/events/training_log.txt").read_text()
        self.assertIn("Round 2 finished.", log)
        # The site's own folder is writable where the rendered executor makes it.
        self.assertTrue((federation.folder / "site-1/app/payload/runs/round_2").is_dir())

    def assert_metrics_inside_round(self, lines: list[dict], number: int):
        start = next(i for i, line in enumerate(lines) if line["kind"] == "round-started" and line["round"] == number)
        end = next(i for i, line in enumerate(lines) if line["kind"] == "round-ended" and line["round"] == number)
        of_round = [i for i, line in enumerate(lines) if line["kind"] == "metric" and line["metric"].get("round") == number]
        self.assertEqual(len(of_round), len(SITES))
        self.assertTrue(all(start < i < end for i in of_round), lines)

    def test_a_workflow_that_tells_no_end_of_rounds_is_followed_too(self):
        def cyclic(scripts, configs):
            return scripts, with_workflow(
                configs,
                "nvflare.app_common.workflows.cyclic_ctl.CyclicController",
                {"num_rounds": 2, "task_name": "train", "persistor_id": "persistor", "shareable_generator_id": "shareable_generator"},
            )

        federation = self.begin(change=cyclic)
        self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
        rounds = [(e["kind"], e["round"]) for e in federation.events("server") if e["kind"].startswith("round-")]
        kinds = ("round-started", "round-ended", "round-model")
        self.assertEqual(rounds, [(kind, number) for number in (0, 1) for kind in kinds])


def fed_avg(scripts, configs):
    arguments = {"num_clients": 1, "num_rounds": 3}
    return scripts, with_workflow(configs, "nvflare.app_common.workflows.fedavg.FedAvg", arguments)


def own_loading(scripts, configs):
    """A persistor that the coordinator would not call resumable: it never looks at a saved model."""
    persistor = scripts["custom_persistor.py"] + """
    def _initialize(self, fl_ctx):
        super()._initialize(fl_ctx)
        self.ckpt_preload_path = None
"""
    return {**scripts, "custom_persistor.py": persistor}, configs


# Each round says which model the site was given.
TELLING = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    import hashlib

    given = hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in model.state_dict().values())).hexdigest()
    logger("RT_METRIC " + json.dumps({"given": given, "in": int(env["CURRENT_ROUND"])}))
    return train(model, env, out_dir, logger)
'''


@dataclass(frozen=True)
class Lost:
    """From where to go on, and the digest of the model that the site was given in the round after it."""

    resume: ResumeFrom
    given: str


class Resume(AttemptTest):
    sites = SITES[:1]
    lost_before: Optional[Lost] = None

    def lost(self) -> Lost:
        """An attempt whose server is lost once its first round has left a model; it is lost once for all tests."""
        if Resume.lost_before is None:
            Resume.lost_before = self.lose()
        return Resume.lost_before

    def lose(self) -> Lost:
        federation = self.begin(TELLING)
        left = federation.await_event("server", "round-model", TIMEOUT_S)
        model = (federation.folder / "server" / left["file"].lstrip("/")).read_bytes()
        self.assertEqual((left["round"], left["sha256"]), (0, hashlib.sha256(model).hexdigest()))
        self.until(lambda: 1 in self.given(federation), federation)
        given = self.given(federation)[1]
        federation.close()
        return Lost(ResumeFrom(1, 2, model), given)

    @staticmethod
    def given(federation: Federation) -> dict[int, str]:
        values = [json.loads(event["value"]) for event in federation.events("server") if event["kind"] == "metric"]
        return {value["in"]: value["given"] for value in values if "given" in value}

    def assert_goes_on(self, change=None):
        lost = self.lost()
        federation = self.begin(TELLING, change=change, resume=lost.resume)
        self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
        started = [e for e in federation.events("server") if e["kind"] == "round-started"]
        self.assertEqual([(e["round"], e["numRounds"]) for e in started], [(1, 3), (2, 3)])
        log = federation.log("server")
        self.assertIn("resumed at round 1 with 2 rounds left", log)
        self.assertIn("Loading checkpoint from /rt/job/resume/model.pt", log)
        # The very model that the lost attempt gave its site in that round.
        self.assertEqual(self.given(federation)[1], lost.given)
        # Each of its rounds leaves what a third attempt would go on from.
        self.assertEqual([e["round"] for e in federation.events("server") if e["kind"] == "round-model"], [1, 2])

    def test_a_lost_server_goes_on_after_the_committed_round(self):
        self.assert_goes_on()

    def test_so_does_the_other_listed_workflow(self):
        self.assert_goes_on(fed_avg)

    def test_a_persistor_that_does_not_take_the_model_fails_instead_of_starting_from_nothing(self):
        federation = self.begin(change=own_loading, resume=self.lost().resume)
        last = self.assert_failed(federation, "federation_failed")
        self.assertIn("did not take the committed model", last["message"])


class MakesWay(AttemptTest):
    """A server that is to commit ends between two rounds; another attempt goes on from there, as if nothing had been."""

    undisturbed: Optional[str] = None

    def weights(self, federation: Federation, event: dict) -> str:
        """Of a model file that the server has told of."""
        return federation.image.weights_digest((federation.folder / "server" / event["modelFile"].lstrip("/")).read_bytes())

    def whole(self) -> str:
        if MakesWay.undisturbed is None:
            federation = self.begin(TELLING)
            self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
            MakesWay.undisturbed = self.weights(federation, federation.events("server")[-1])
            federation.close()
        return MakesWay.undisturbed

    def assert_commits(self, change=None) -> bytes:
        """Answers the model of the round that it ended with."""
        federation = self.begin(TELLING, change=change)
        # In the middle of a round: the sites have their model, and train.
        self.until(lambda: 1 in Resume.given(federation), federation)
        federation.order_commit()
        self.assertEqual(self.end(federation), 143, federation.log("server")[-3000:])
        events = federation.events("server")
        told = [(event["kind"], event["round"]) for event in events if event["kind"].startswith("round-")]
        self.assertEqual(told[-3:], [("round-started", 1), ("round-ended", 1), ("round-model", 1)], "no round was begun in vain")
        self.assertNotIn("failed", federation.kinds("server"))
        left = events[-1]
        model = (federation.folder / "server" / left["file"].lstrip("/")).read_bytes()
        self.assertEqual(hashlib.sha256(model).hexdigest(), left["sha256"], "it is still that round's")
        for site in self.sites:
            # As the agent does once the server has ended.
            federation.terminate(site)
            self.assertIn(self.end(federation, site), (0, 143), federation.log(site)[-3000:])
            self.assertNotIn("failed", federation.kinds(site))
        federation.close()
        return model

    def test_a_federation_that_made_way_ends_with_the_weights_of_one_that_did_not(self):
        resumed = self.begin(TELLING, resume=ResumeFrom(2, 1, self.assert_commits()))
        self.assertEqual(self.end(resumed), 0, resumed.log("server")[-3000:])
        self.assertEqual(self.weights(resumed, resumed.events("server")[-1]), self.whole())

    def test_the_other_listed_workflow_ends_between_two_rounds_too(self):
        def of_both(scripts, configs):
            arguments = {"num_clients": 2, "num_rounds": 3}
            return scripts, with_workflow(configs, "nvflare.app_common.workflows.fedavg.FedAvg", arguments)

        self.assert_commits(of_both)

    def test_an_order_in_the_last_round_lets_the_job_end_well(self):
        federation = self.begin(TELLING)
        self.until(lambda: 2 in Resume.given(federation), federation)
        federation.order_commit()
        self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
        self.assertEqual(federation.kinds("server")[-1], "finished")


class UserFaults(AttemptTest):
    """An exception in the training itself is a case of acceptance/test/federated-job.test.ts."""

    sites = SITES[:1]
    rounds = 1

    def test_a_module_that_cannot_be_imported(self):
        def change(scripts, configs):
            return {**scripts, "model_def.py": "import no_such_package\n" + scripts["model_def.py"]}, configs

        failed = self.assert_failed(self.begin(change=change), "user_exception")
        self.assertIn("No module named 'no_such_package'", failed["detail"])

    def test_a_class_that_the_sites_do_not_find(self):
        def change(scripts, configs):
            client = json.loads(configs["config_fed_client.json"])
            client["executors"][0]["executor"]["args"]["model_class"] = "Nobody"
            return scripts, {**configs, "config_fed_client.json": json.dumps(client)}

        failed = self.assert_failed(self.begin(change=change), "user_exception")
        self.assertIn("does not define class 'Nobody'", failed["detail"])

    def test_a_component_path_that_does_not_exist(self):
        def change(scripts, configs):
            return scripts, with_workflow(configs, "nvflare.app_common.workflows.no_such.Thing", {})

        failed = self.assert_failed(self.begin(change=change), "config_invalid")
        self.assertIn("no_such", failed["message"] + failed.get("detail", ""))

    def test_a_run_that_writes_no_model(self):
        def change(scripts, configs):
            persistor = scripts["custom_persistor.py"].replace("super().save_model(ml, fl_ctx)", "return")
            return {**scripts, "custom_persistor.py": persistor}, configs

        self.assert_failed(self.begin(change=change), "output_missing")


if __name__ == "__main__":
    unittest.main()
