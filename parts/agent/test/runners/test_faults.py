"""What hostile and broken jobs do to whole attempts on real NVFlare (federation.py): how sites end, what becomes of updates."""

import json
import unittest

from test_attempts import SOURCE, AttemptTest, fed_avg

# One site trains, each of the others leaves in its own way.
LEAVING = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    import ctypes
    import os
    import sys

    print("on the way out")
    if env["SITE_NAME"] == "site-2":
        sys.exit(0)
    if env["SITE_NAME"] == "site-3":
        os._exit(3)
    if env["SITE_NAME"] == "site-4":
        ctypes.string_at(0)
    if env["SITE_NAME"] == "site-5":
        os.kill(os.getpid(), 9)
    return train(model, env, out_dir, logger)
'''

# In the first round one site's update fits, and the others' each fail to in their own way; in the second one no site's fits.
UNFIT = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    result = train(model, env, out_dir, logger)
    name, weights = env["SITE_NAME"], dict(result["weights"])
    first = next(iter(weights))
    if name == "site-2" or int(env["CURRENT_ROUND"]) > 0:
        weights[first] = weights[first][:1]
        return {**result, "weights": weights}
    if name == "site-3":
        weights[first] = weights[first].tolist()
    if name == "site-4":
        del weights[first]
        weights[next(iter(weights))] *= float("nan")
    if name == "site-5":
        raise ValueError("row 7\\nhas no label")
    return {**result, "weights": weights}
'''

WITHOUT_SAMPLES = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    return {**train(model, env, out_dir, logger), "samples": 0}
'''

MISSHAPEN = UNFIT.replace('if name == "site-2"', "if True or name")


def quorum_of_one(scripts, configs, waits_s=3):
    """A round waits so long for others."""
    server = json.loads(configs["config_fed_server.json"])
    server["workflows"][0]["args"].update(min_clients=1, wait_time_after_min_received=waits_s)
    meta = {**json.loads(configs["meta.json"]), "min_clients": 1}
    return scripts, {**configs, "config_fed_server.json": json.dumps(server), "meta.json": json.dumps(meta)}


DIVERGED = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    result = train(model, env, out_dir, logger)
    weights = dict(result["weights"])
    if int(env["CURRENT_ROUND"]) > 0:
        weights[next(iter(weights))] *= float("inf")
    return {**result, "weights": weights}
'''


class FaultTest(AttemptTest):
    min_clients = 1

    def warnings(self, federation) -> set[tuple[str, str]]:
        return {(event["site"], event["topic"]) for event in federation.events("server") if event["kind"] == "warning"}

    def rounds_in_metrics(self, federation) -> list[dict]:
        text = (federation.folder / "server/rt/events/metrics.jsonl").read_text()
        return [line for line in map(json.loads, text.splitlines()) if line["kind"] == "round-ended"]


class LeavingSites(FaultTest):
    sites = ["site-1", "site-2", "site-3", "site-4", "site-5"]
    rounds = 2

    def test_each_end_of_a_site_is_told_by_it_and_the_quorum_carries_the_job(self):
        federation = self.begin(LEAVING, change=quorum_of_one)
        for site, words in (
            ("site-2", "left the run: SystemExit: 0"),
            ("site-3", "ended early with exit code 3"),
            ("site-4", "was ended by signal 11 (SIGSEGV)"),
            ("site-5", "was ended by signal 9 (SIGKILL)"),
        ):
            with self.subTest(site):
                failed = self.assert_failed(federation, "payload_exited", site)
                self.assertEqual(failed["message"], f"{site}: its training process {words}")
                self.assertIn("on the way out", failed["detail"])
        self.assertIn("Segmentation fault", federation.events("site-4")[-1]["detail"])
        self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
        self.assertEqual([line["sites"] for line in self.rounds_in_metrics(federation)], [["site-1"], ["site-1"]])
        self.assertEqual(self.warnings(federation), {(site, "not-heard") for site in self.sites[1:]})


class UnfitUpdates(FaultTest):
    sites = ["site-1", "site-2", "site-3", "site-4", "site-5"]
    rounds = 2

    def test_what_does_not_fit_is_rejected_by_name_and_a_round_of_nothing_else_fails_the_job(self):
        # Every site answers, and the round ends then: five of them on a busy machine are seconds apart.
        federation = self.begin(UNFIT, change=lambda *files: quorum_of_one(*files, waits_s=60))
        failed = self.assert_failed(federation, "updates_rejected")
        self.assertRegex(failed["message"], r"round 1 counted no update \(site-1: .* has the shape")
        self.assertEqual([event["round"] for event in federation.events("server") if event["kind"] == "round-model"], [0])
        first = self.rounds_in_metrics(federation)[0]
        self.assertEqual(first["sites"], ["site-1", "site-4"])
        updates = first["updates"]
        self.assertEqual((updates["sent"], updates["counted"]), (self.sites, ["site-1", "site-4"]))
        # One of the two that count is no number, and so is their mean.
        note = next(event for event in federation.events("server") if event.get("topic") == "update-note")
        self.assertRegex(note["text"], r"lacks 1 of \d+ tensors.*; it holds values that are no numbers \(NaN or infinite\) in 1 of \d+ tensors: \S+ \(\d+ of \d+\)")
        ended = next(event for event in federation.events("server") if event["kind"] == "round-ended")
        self.assertEqual((ended["round"], ended["isFinite"], first["isFinite"]), (0, False, False))
        self.assertRegex(updates["rejected"]["site-2"], "has the shape .* in the model it has")
        self.assertRegex(updates["rejected"]["site-3"], "is a list, not a tensor")
        self.assertEqual(updates["raised"]["site-5"], "ValueError: row 7 has no label")
        self.assertEqual(
            self.warnings(federation),
            {(site, "update-rejected") for site in self.sites} | {("site-4", "update-note"), ("site-5", "update-raised"), ("server", "model-not-finite")},
        )


class UnfitAlone(FaultTest):
    sites = ["site-1"]
    rounds = 2

    def test_the_other_aggregating_workflow_counts_too(self):
        failed = self.assert_failed(self.begin(MISSHAPEN, change=fed_avg), "updates_rejected")
        self.assertRegex(failed["message"], "round 0 counted no update .* has the shape")

    def test_a_model_that_is_no_number_fails_the_job_of_a_project_that_refuses_it(self):
        federation = self.begin(DIVERGED, change=fed_avg, spec={"refusesNonFinite": True})
        failed = self.assert_failed(federation, "model_not_finite")
        self.assertRegex(failed["message"], r"round 1: the model holds values that are no numbers \(NaN or infinite\) in 1 of")
        told = {event["round"]: event["isFinite"] for event in federation.events("server") if event["kind"] == "round-ended"}
        self.assertEqual(told, {0: True, 1: False})
        models = [event["round"] for event in federation.events("server") if event["kind"] == "round-model"]
        self.assertEqual(models, [0], "the last that is one stays")

    def test_an_aggregator_that_fails_of_the_users_data_is_the_users_fault(self):
        failed = self.assert_failed(self.begin(WITHOUT_SAMPLES), "user_exception")
        self.assertIn("ZeroDivisionError", failed["message"])


class LeavingServer(FaultTest):
    sites = ["site-1"]
    rounds = 2

    def saving(self, statement: str):
        def change(scripts, configs):
            persistor = scripts["custom_persistor.py"].replace("super().save_model(ml, fl_ctx)", statement)
            return {**scripts, "custom_persistor.py": persistor}, configs

        return change

    def test_a_server_that_leaves_its_run_did_not_finish_it(self):
        failed = self.assert_failed(self.begin(change=self.saving("raise SystemExit(0)")), "payload_exited")
        self.assertIn("server: its job process left the run: SystemExit: 0", failed["message"])

    def test_a_last_save_that_fails_leaves_no_model_of_a_round_before(self):
        fails = "self.saves = getattr(self, 'saves', 0) + 1\n            assert self.saves < 2, 'no more saves'\n            super().save_model(ml, fl_ctx)"
        federation = self.begin(change=self.saving(fails))
        failed = self.assert_failed(federation, "output_missing")
        self.assertIn("no more saves", failed["message"])
        self.assertIn(("server", "model-not-saved"), self.warnings(federation))

    def test_nor_did_one_whose_process_ends(self):
        failed = self.assert_failed(self.begin(change=self.saving("os._exit(5)")), "payload_exited")
        self.assertIn("server: its job process ended early with exit code 5", failed["message"])


# One site says that it was told, in the time that it has; the other has no handler.
TOLD = SOURCE + '''

train = fl_train


def fl_train(model, env, out_dir, logger=None):
    import signal
    import sys
    import time

    def told(number, frame):
        time.sleep(2)
        print("saved before the end", flush=True)
        sys.exit(0)

    if env["SITE_NAME"] == "site-1":
        signal.signal(signal.SIGTERM, told)
    logger("RT_METRIC " + json.dumps({"waits": True}))
    time.sleep(120)
    print("waited to the end", flush=True)
    return train(model, env, out_dir, logger)
'''


class Cancelled(FaultTest):
    sites = ["site-1", "site-2"]
    rounds = 1

    def test_sigterm_aborts_the_job_reaches_the_users_handler_and_leaves_no_process(self):
        federation = self.begin(TOLD)
        self.until(lambda: federation.kinds("server").count("metric") == len(self.sites), federation)
        members = ("server", *self.sites)
        for member in members:
            federation.terminate(member)
        self.assertEqual([self.end(federation, member) for member in members], [143] * len(members))
        self.assertIn("saved before the end", federation.log("site-1"))
        self.assertNotIn("waited to the end", "".join(map(federation.log, members)))
        for member in members:
            self.assertNotIn("failed", federation.kinds(member))
            self.assertEqual(federation.inside(member), [])


if __name__ == "__main__":
    unittest.main()
