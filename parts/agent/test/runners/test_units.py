"""What needs no NVFlare: runs with any Python 3.11."""

import hashlib
import json
import logging
import os
import sys
import tempfile
import time
import traceback
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_runner import kit
from resontech_runner.environment import cpu_quota, job_environment
from resontech_runner.events import FailureReserve, LineLog, LineTail, seconds_of
from resontech_runner.failure import SiteError, failure_of, headline_of
from resontech_runner.finite import not_finite
from resontech_runner.job_folder import assemble_job, resume_job
from resontech_runner.layout import Layout
from resontech_runner.log_lines import METRIC_MAX_BYTES, TracebackCollector, last_lines, message_of, metric_of, metrics_in, raised_in
from resontech_runner.logger_methods import give_methods, wrap_training
from resontech_runner.memory_limit import memory_limit_bytes, oom_kills
from resontech_runner.model_file import find_model, is_older, settled_model
from resontech_runner.process_end import end_in_words
from resontech_runner.round_updates import NOT_COUNTED, RoundUpdates
from resontech_runner.rounds import RoundEnded, RoundStarted, RoundTracker
from resontech_runner.spec import Resume, SpecError, read_spec
from resontech_runner.update_fit import judge_fit, shapes_of

SPEC = {
    "formatVersion": 1,
    "role": "client",
    "job": "j",
    "attempt": "a-1",
    "fence": {"generation": 1, "counter": 2},
    "org": "acme",
    "serverName": "fl-server",
    "serverPort": 8102,
    "sites": ["site-1", "site-2"],
    "site": "site-1",
    "minClients": 2,
    "numRounds": 3,
    "taskRequestIntervalS": 0.2,
    "modelFile": None,
    "resume": None,
}


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file


class Spec(InFolder):
    def test_is_read(self):
        spec = read_spec(self.write("spec.json", json.dumps(SPEC)))
        self.assertEqual((spec.site, spec.sites, spec.task_request_interval_s), ("site-1", ("site-1", "site-2"), 0.2))

    def test_of_another_format_or_role_is_refused(self):
        for change in ({"formatVersion": 2}, {"role": "rank"}, {"role": "server"}, {"site": None}):
            with self.subTest(change), self.assertRaises(SpecError):
                read_spec(self.write("spec.json", json.dumps({**SPEC, **change})))


class ResumedJob(InFolder):
    def job(self, server: dict, **files: str) -> Path:
        self.write("scripts/model_def.py", "x")
        self.write("configs/meta.json", json.dumps({"deploy_map": {"app": ["@ALL"]}}))
        self.write("configs/config_fed_server.json", json.dumps(server))
        for name, text in files.items():
            self.write(f"configs/{name}.json", text)
        target = self.folder / "job"
        assemble_job(self.folder / "scripts", self.folder / "configs", target)
        return target

    def test_changes_rounds_and_model_and_nothing_else(self):
        server = {"workflows": [{"path": "p", "args": {"num_rounds": 9, "min_clients": 2}}], "components": [{"id": "persistor", "args": {}}]}
        target = self.job(server, environment='{"MINE": 1, "APP_CKPT": "old.pt"}')
        changed = resume_job(target, Resume(4, 5, Path("/rt/job/resume/model.pt")))
        config = target / "app/config"
        expected = {**server, "workflows": [{"path": "p", "args": {"num_rounds": 5, "start_round": 4, "min_clients": 2}}]}
        self.assertEqual(json.loads((config / "config_fed_server.json").read_text()), expected)
        self.assertEqual(json.loads((config / "environment.json").read_text()), {"MINE": 1, "APP_CKPT": "/rt/job/resume/model.pt"})
        self.assertEqual(sorted(changed), ["app/config/config_fed_server.json", "app/config/environment.json"])
        for file, digest in changed.items():
            self.assertEqual(hashlib.sha256((target / file).read_bytes()).hexdigest(), digest)

    def test_a_persistor_that_names_its_model_is_given_another(self):
        component = {"id": "mine", "args": {"source_ckpt_file_full_name": "warm.pt"}}
        target = self.job({"workflows": [{"args": {"persistor_id": "mine"}}], "components": [component]})
        resume_job(target, Resume(1, 1, Path("/m.pt")))
        server = json.loads((target / "app/config/config_fed_server.json").read_text())
        self.assertEqual(server["components"][0]["args"]["source_ckpt_file_full_name"], "/m.pt")


class Kit(InFolder):
    def render(self, role: str) -> Layout:
        layout = Layout(self.folder)
        self.write("rt/job/kit/member.key", "key")
        spec = read_spec(self.write("spec.json", json.dumps({**SPEC, "role": role, "site": None if role == "server" else "site-1"})))
        if role == "server":
            kit.render_server(spec, layout)
            kit.render_admin(spec, layout)
        else:
            kit.render_client(spec, layout)
        return layout

    def test_keys_are_linked_never_copied(self):
        layout = self.render("client")
        key = layout.site_workspace / "startup/client.key"
        self.assertTrue(key.is_symlink())
        self.assertEqual(key.read_text(), "key")

    def test_a_client_names_its_server_by_the_certificate_and_dials_the_same_name(self):
        layout = self.render("client")
        server = json.loads((layout.site_workspace / "startup/fed_client.json").read_text())["servers"][0]
        self.assertEqual((server["identity"], server["service"]["target"]), ("fl-server", "fl-server:8102"))

    def test_the_server_keeps_its_stores_in_its_workspace(self):
        layout = self.render("server")
        text = (layout.site_workspace / "local/resources.json").read_text()
        self.assertNotIn("/tmp/nvflare", text)
        self.assertIn(str(layout.site_workspace / "jobs"), text)
        self.assertIn(str(layout.site_workspace / "snapshots"), text)

    def test_unsigned_jobs_are_refused_by_server_and_client(self):
        for role, file in (("server", "fed_server.json"), ("client", "fed_client.json")):
            with self.subTest(role), tempfile.TemporaryDirectory() as folder:
                self.folder = Path(folder)
                layout = self.render(role)
                self.assertIs(json.loads((layout.site_workspace / "startup" / file).read_text())["require_signed_jobs"], True)


class JobFolder(InFolder):
    def test_holds_the_users_bytes_in_nvflares_places(self):
        self.write("scripts/model_def.py", "x = 'ü'\r\n")
        self.write("scripts/helpers/deep.py", "")
        for name in ("config_fed_server.json", "config_fed_client.json"):
            self.write(f"configs/{name}", '{ "a":1 }')
        self.write("configs/meta.json", '{"name": "n", "deploy_map": {"app": ["@ALL"]}}\n')
        assemble_job(self.folder / "scripts", self.folder / "configs", self.folder / "job")
        found = sorted(str(file.relative_to(self.folder / "job")) for file in (self.folder / "job").rglob("*") if file.is_file())
        self.assertEqual(
            found,
            [
                "app/config/config_fed_client.json",
                "app/config/config_fed_server.json",
                "app/custom/helpers/deep.py",
                "app/custom/model_def.py",
                "meta.json",
            ],
        )
        for name in ("model_def.py", "helpers/deep.py"):
            source, copy = self.folder / "scripts" / name, self.folder / "job/app/custom" / name
            self.assertEqual(source.read_bytes(), copy.read_bytes())

    def test_an_app_name_that_leaves_the_folder_is_refused(self):
        self.write("scripts/a.py", "")
        for app in ("..", "../x", "", "a/b"):
            self.write("configs/meta.json", json.dumps({"deploy_map": {app: ["@ALL"]}}))
            with self.subTest(app), self.assertRaises(ValueError):
                assemble_job(self.folder / "scripts", self.folder / "configs", self.folder / f"job{len(app)}")


class LogLines(unittest.TestCase):
    def test_a_metric_is_what_follows_the_word_at_the_start_of_a_line(self):
        cases = {
            'RT_METRIC {"round": 1}': ['{"round": 1}'],
            'RT_METRIC   {"a": [1, 2]}  ': ['{"a": [1, 2]}'],
            'say RT_METRIC {"round": 1}': [],
            'RT_METRIC{"a": 1}': [],
            '12%|# | 1/8\rRT_METRIC {"a": 1}\r25%\nRT_METRIC {"b": 2}\n': ['{"a": 1}', '{"b": 2}'],
            "": [],
        }
        for message, expected in cases.items():
            with self.subTest(message[:40]):
                self.assertEqual(metrics_in(message), expected)

    def test_what_json_cannot_hold_is_kept_as_text_with_its_problem(self):
        cases = {
            '{"round": 1}': ({"round": 1}, None),
            '{"loss": NaN, "best": -Infinity}': ({"loss": "NaN", "best": "-Infinity"}, "JSON has no NaN"),
            "1": ({"text": "1", "problem": "it is no JSON object"}, "it is no JSON object"),
            "{broken": ({"text": "{broken", "problem": "it is no JSON"}, "it is no JSON"),
        }
        for said, expected in cases.items():
            with self.subTest(said):
                metric = metric_of(said)
                self.assertEqual((json.loads(metric.json), metric.problem), expected)

    def test_what_is_too_long_keeps_its_beginning_within_the_limit(self):
        for said in ('{"a": "' + "x" * METRIC_MAX_BYTES + '"}', '{"a":' * 3000 + "1" + "}" * 3000, "\U0001f600" * METRIC_MAX_BYTES):
            with self.subTest(said[:20]):
                metric = metric_of(said)
                self.assertLessEqual(len(metric.json.encode()), METRIC_MAX_BYTES)
                self.assertTrue(said.startswith(json.loads(metric.json)["text"]))
                self.assertIn(str(METRIC_MAX_BYTES), metric.problem)

    def test_nvflares_context_is_taken_off_once(self):
        self.assertEqual(message_of("[identity=site-1, run=5, wf=w]: [identity=x]: hello"), "[identity=x]: hello")
        self.assertEqual(message_of("plain"), "plain")

    def collect(self, text: str) -> list[str]:
        collector = TracebackCollector()
        for line in text.splitlines(keepends=True):
            collector.feed(line)
        return list(collector.found)

    def test_a_traceback_is_found_after_a_logs_prefix_and_ends_at_its_exception(self):
        found = self.collect(
            "2026 - Executor - ERROR - [run=1] - Traceback (most recent call last):\n"
            '  File "/w/custom/model_def.py", line 3, in fl_train\n'
            "    raise ValueError('no')\n"
            "\n"
            "ValueError: no\n"
            "2026-11-25 10:00:00,123 - other - INFO - goes on\n"
        )
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("Traceback"))
        self.assertTrue(found[0].endswith("ValueError: no"))

    def test_chained_tracebacks_are_one(self):
        found = self.collect(
            "Traceback (most recent call last):\n  File 'a', line 1\nKeyError: 'x'\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n  File 'b', line 2\nRuntimeError: y\n"
        )
        self.assertEqual(len(found), 1)
        self.assertIn("KeyError: 'x'", found[0])
        self.assertTrue(found[0].endswith("RuntimeError: y"))

    def test_a_message_of_many_lines_belongs_to_its_traceback(self):
        found = self.collect(
            "Traceback (most recent call last):\n  File 'a', line 1\nRuntimeError: Error(s) in loading state_dict:\n"
            "\tsize mismatch for fc.weight\nand more\n2026-11-25 10:00:00,123 - other - INFO - goes on\nnever\n"
        )
        self.assertEqual(raised_in(found[0]), ["RuntimeError: Error(s) in loading state_dict:\n\tsize mismatch for fc.weight\nand more"])

    def test_a_group_is_one_traceback_with_its_first_member(self):
        def raise_group():
            raise ExceptionGroup("two sites", [ValueError("row 7"), KeyError("label")])

        try:
            raise_group()
        except ExceptionGroup:
            text = traceback.format_exc()
        found = self.collect(text + "2026-11-25 10:00:00,123 - other - INFO - goes on\n")
        self.assertEqual(len(found), 1)
        for of in (text, found[0]):
            self.assertIn("ExceptionGroup: two sites (2 sub-exceptions): ValueError: row 7", raised_in(of)[0])

    def test_what_never_ends_is_no_traceback_and_takes_bounded_memory(self):
        collector = TracebackCollector()
        collector.feed("Traceback (most recent call last):\n")
        for _ in range(100_000):
            collector.feed("  File 'x'\n")
        self.assertEqual(list(collector.found), [])
        self.assertLess(len(collector._open), 1000)

    def test_details_are_short(self):
        self.assertEqual(len(last_lines("\n".join(["x" * 1000] * 500))), 8192)

    def test_details_end_with_what_was_raised_and_not_with_the_news_of_another(self):
        text = "ValueError: no\n\nDuring handling of the above exception, another exception occurred:\n"
        self.assertEqual(last_lines(text), "ValueError: no")


NOT_LOADED = "Can't load class model_def.Net: No module named 'torchvison' "


class Failures(unittest.TestCase):
    USER = 'Traceback (most recent call last):\n  File "/app/workspace/site/j/app_site-1/custom/model_def.py", line 1\nValueError: bad column'
    OURS = 'Traceback (most recent call last):\n  File "/usr/lib/nvflare/x.py", line 1\nConnectionError: lost'

    def test_reasons(self):
        cases = [
            ("user_exception", dict(tracebacks=[self.USER, self.OURS])),
            ("federation_failed", dict(tracebacks=[self.OURS])),
            ("federation_failed", dict(tracebacks=[])),
            ("out_of_memory", dict(tracebacks=[], out_of_memory=True)),
            ("out_of_memory", dict(tracebacks=[self.USER.replace("ValueError: bad column", "torch.OutOfMemoryError: CUDA out of memory.")])),
            ("disk_limit", dict(tracebacks=[self.USER.replace("ValueError: bad column", "OSError: [Errno 28] No space left on device")])),
            ("config_invalid", dict(tracebacks=[self.OURS.replace("ConnectionError: lost", "nvflare.fuel.common.excepts.ConfigError: no")])),
            ("user_exception", dict(tracebacks=[], site_errors=[SiteError("site-2", "EXECUTION_EXCEPTION", self.USER)])),
        ]
        for reason, evidence in cases:
            with self.subTest(reason):
                self.assertEqual(failure_of("ended", **{"site_errors": [], **evidence}).reason, reason)

    def raising(self, exception: str) -> list[str]:
        return [self.USER.replace("ValueError: bad column", exception)]

    def test_who_raises_decides_what_a_full_disk_is(self):
        cases = {
            "OSError: [Errno 28] No space left on device": "disk_limit",
            "RuntimeError: unable to write to file </torch_91_1>: No space left on device (28)": "shared_memory_full",
            "OSError: [Errno 28] No space left on device: '/dev/shm/x'": "shared_memory_full",
            "RuntimeError: DataLoader worker (pid 4) is killed by signal: Bus error. Your workers may be out of shared memory.": "shared_memory_full",
            "ValueError: No space left on device": "user_exception",
            "MyError: OutOfMemoryError is in the message": "user_exception",
            "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 TiB": "out_of_memory",
        }
        for exception, reason in cases.items():
            with self.subTest(exception):
                self.assertEqual(failure_of("ended", self.raising(exception), []).reason, reason)

    def test_what_breaks_once_the_jobs_code_ran_is_the_jobs(self):
        lost = "Aborting job due to deployment policy violation"
        cases = [
            ("Exception in control_flow: ZeroDivisionError: float division by zero", True, "user_exception"),
            ("Exception in control_flow: ZeroDivisionError: float division by zero", False, "federation_failed"),
            (lost, True, "federation_failed"),
            ("the persistor did not take the committed model", True, "federation_failed"),
        ]
        for summary, has_begun, reason in cases:
            for tracebacks in ([], [self.OURS]):
                with self.subTest(summary, has_begun=has_begun):
                    self.assertEqual(failure_of(summary, tracebacks, [], has_begun=has_begun).reason, reason)

    def test_a_headline_has_type_and_whole_message(self):
        cases = {
            "User function raised: row 7\n" + self.USER.replace("bad column", "row 7\nhas no label"): "ValueError: row 7 has no label",
            "no traceback\nbut this": "but this",
            self.USER.replace("ValueError: bad column", f"ValueError: failed to instantiate class: TypeError: {NOT_LOADED}"): "Can't load model_def.Net: No module named 'torchvison'",
            "": "",
        }
        for text, headline in cases.items():
            with self.subTest(text):
                self.assertEqual(headline_of(text), headline)

    def test_a_sites_own_word_wins_and_names_the_site(self):
        failure = failure_of("aborted", [self.OURS], [SiteError("site-2", "EXECUTION_EXCEPTION", self.USER)])
        self.assertEqual((failure.message, failure.site), ("site-2: ValueError: bad column", "site-2"))
        self.assertTrue(failure.detail.endswith("ValueError: bad column"))

    def test_nvflares_wrapping_is_taken_off(self):
        text = self.USER.replace("ValueError: bad column", "ConfigError: Error in element '{}': path: 'a', exception: 'KeyError: q '")
        self.assertEqual(failure_of("ended", [text], []).message, "KeyError: q")


class Rounds(unittest.TestCase):
    def test_told_at_both_ends(self):
        rounds = RoundTracker()
        self.assertEqual(rounds.started(0, 2, 10.0), [RoundStarted(0, 2)])
        rounds.contributed("site-2")
        rounds.contributed("site-1")
        rounds.contributed("site-2")
        self.assertEqual(rounds.finished(), [RoundEnded(0, ("site-1", "site-2"), 10.0)])
        self.assertEqual(rounds.finished(), [])
        # A late result belongs to no round.
        rounds.contributed("site-3")
        self.assertEqual(rounds.started(1, None, 11.0), [RoundStarted(1, 2)])

    def test_an_end_that_nobody_tells_is_implied_by_the_next_start(self):
        rounds = RoundTracker(num_rounds=2)
        rounds.started(0, None, 1.0)
        self.assertEqual(rounds.started(1, None, 2.0), [RoundEnded(0, (), 1.0), RoundStarted(1, 2)])
        self.assertEqual(rounds.finished(), [RoundEnded(1, (), 2.0)])

    def test_the_same_or_an_older_number_is_no_new_round(self):
        rounds = RoundTracker()
        rounds.started(3, None, 1.0)
        self.assertEqual(rounds.started(3, None, 2.0) + rounds.started(1, None, 3.0), [])


class Tensor:
    def __init__(self, *shape: int):
        self.shape = shape


class Fits(unittest.TestCase):
    MODEL = shapes_of({"a": Tensor(2, 3), "b": Tensor(), "step": 4})

    def test_what_can_be_added_part_by_part(self):
        whole = {"a": Tensor(2, 3), "b": Tensor(), "step": 5}
        self.assertEqual(self.MODEL, {"a": (2, 3), "b": (), "step": ()})
        cases = [
            (whole, 10, None, None),
            (whole, None, None, None),
            ([1, 2], 10, "no tensors", None),
            ({}, 10, "no tensors", None),
            ({**whole, "a": Tensor(2, 1)}, 10, r"'a' has the shape \[2, 1\], in the model it has \[2, 3\]", None),
            ({**whole, "a": [[1]]}, 10, "'a' is a list", None),
            ({**whole, "a": None}, 10, "'a' is a NoneType", None),
            ({**whole, "a": object()}, 10, None, None),
            ({**whole, "c": Tensor(1)}, 10, "no tensor 'c'", None),
            ({"a": Tensor(2, 3)}, 10, None, "lacks 2 of 3 tensors.*: b, step"),
            (whole, 0, None, "samples: 0"),
            (whole, -1, "-1 samples", None),
            (whole, float("nan"), "nan samples", None),
            (whole, "many", "'many' samples", None),
        ]
        for update, samples, misfit, note in cases:
            with self.subTest(update=update, samples=samples):
                fit = judge_fit(update, self.MODEL, True, samples)
                for found, expected in ((fit.misfit, misfit), (fit.note, note)):
                    self.assertIsNone(found) if expected is None else self.assertRegex(found, expected)

    def test_a_model_that_nobody_knows_takes_any_tensor(self):
        self.assertEqual(shapes_of(None), {})
        self.assertIsNone(judge_fit({"new": Tensor(7)}, {}, True).misfit)

    def test_where_the_model_binds_nobody_the_rounds_first_update_does(self):
        self.assertEqual(judge_fit({"new": Tensor(7), "a": Tensor(2, 3)}, self.MODEL, False).note, None)
        self.assertRegex(judge_fit({"a": Tensor(3)}, self.MODEL, False).misfit, "in the round's first update it has")


class Finite(unittest.TestCase):
    def test_what_is_no_number_is_counted_and_named(self):
        self.assertIsNone(not_finite({"a": 1.5, "step": 4, "name": "x", "list": [float("nan")]}))
        self.assertIsNone(not_finite([float("nan")]))
        bad = {name: float(value) for name, value in zip("abcdef", ("nan", "inf", "-inf", "1", "nan", "nan"))}
        self.assertEqual(
            not_finite(bad), "holds values that are no numbers (NaN or infinite) in 5 of 6 tensors: a (1 of 1), b (1 of 1), c (1 of 1) and 2 more"
        )


class UpdatesOfRounds(unittest.TestCase):
    def updates(self, min_clients: int = 1) -> RoundUpdates:
        updates = RoundUpdates(("site-1", "site-2", "site-3"), 2)
        updates.workflow(True, True, min_clients)
        for site in ("site-1", "site-2"):
            updates.sent(site)
        return updates

    def test_each_fate_is_counted_and_warned_of_by_site(self):
        updates = self.updates()
        updates.came("site-1", "counted", "", None)
        updates.came("site-2", "rejected", "'a' is a list", None)
        updates.came("site-2", "late", "", None)
        count = updates.close(4)
        self.assertEqual(
            count.counts,
            {
                "sent": ["site-1", "site-2"],
                "counted": ["site-1"],
                "rejected": {"site-2": "'a' is a list"},
                "raised": {},
                "late": ["site-2"],
                "notHeard": ["site-3"],
            },
        )
        self.assertEqual(
            [(warning.site, warning.topic, warning.round) for warning in count.warnings],
            [("site-2", "update-rejected", 4), ("site-2", "update-late", 4), ("site-3", "not-heard", 4)],
        )
        self.assertIsNone(count.shortfall)
        self.assertEqual(updates.close(5).counts["rejected"], {})

    def test_a_round_needs_as_many_as_the_workflow_says(self):
        for min_clients, counted, shortfall in ((1, 1, None), (2, 1, "counted 1 of the 2"), (1, 0, "counted no update"), (2, 2, None)):
            updates = self.updates(min_clients)
            for number in range(counted):
                updates.came(f"site-{number + 1}", "counted", "", None)
            found = updates.close(0).shortfall
            self.assertIsNone(found) if shortfall is None else self.assertIn(shortfall, found)

    def test_a_site_that_trains_a_round_again_does_not_undo_what_counted(self):
        updates = self.updates()
        updates.came("site-1", "counted", "", None)
        updates.came("site-1", "rejected", "accepted already", None)
        self.assertEqual(updates.close(0).counts["counted"], ["site-1"])

    def test_other_workflows_are_not_counted(self):
        updates = RoundUpdates(("site-1",), 1)
        updates.workflow(False, False, None)
        self.assertEqual((updates.close(0).counts, updates.close(0).shortfall), (NOT_COUNTED, None))


class ProcessEnds(unittest.TestCase):
    def test_in_words(self):
        cases = {
            0: "ended early with exit code 0",
            3: "ended early with exit code 3",
            -9: "was ended by signal 9 (SIGKILL)",
            -11: "was ended by signal 11 (SIGSEGV)",
            139: "was ended by signal 11 (SIGSEGV)",
            None: "ended",
            255: "ended early with exit code 255",
        }
        for code, words in cases.items():
            with self.subTest(code):
                self.assertEqual(end_in_words(code), words)


class Models(InFolder):
    def test_a_file_is_older_than_a_moment_to_the_grain_of_its_clock(self):
        second = 1_000_000_000
        for mtime_ns, since, older in (
            (10 * second + 500_000_000, 10.6, True),
            (10 * second + 500_000_000, 10.4, False),
            (10 * second + 500_000_000, 10.51, False),
            (10 * second, 10.9, False),
            (9 * second, 10.1, True),
        ):
            with self.subTest(mtime_ns=mtime_ns, since=since):
                self.assertIs(is_older(mtime_ns, since), older)

    def test_the_persistors_copy_comes_before_the_apps_file(self):
        app = self.write("ws/job/app_server/FL_global_model.pt", "a")
        self.assertEqual(find_model(self.folder / "out", self.folder / "ws", "job"), app)
        out = self.write("out/GLOBAL_MODEL.pt", "b")
        self.assertEqual(find_model(self.folder / "out", self.folder / "ws", "job"), out)

    def test_a_link_is_no_model(self):
        self.write("out/x", "")
        (self.folder / "out/GLOBAL_MODEL.pt").symlink_to("/etc/passwd")
        self.assertIsNone(find_model(self.folder / "out", self.folder / "ws", None))

    def test_a_file_that_is_open_for_writing_or_empty_has_not_settled(self):
        file = self.write("m.pt", "weights")
        with open(file, "ab"):
            self.assertIsNone(settled_model(file))
        with open(file, "rb"):
            model = settled_model(file)
        self.assertEqual(model.sha256, hashlib.sha256(b"weights").hexdigest())
        file.write_text("")
        self.assertIsNone(settled_model(file))
        self.assertIsNone(settled_model(self.folder / "none"))


class Lines(InFolder):
    def test_a_tail_sees_whole_objects_alone_and_each_once(self):
        file = self.folder / "journal.jsonl"
        tail = LineTail(file)
        self.addCleanup(tail.close)
        self.assertEqual(tail.read(), [])
        log = LineLog(file)
        self.addCleanup(log.close)
        log.append("metric", value="ü\n")
        with open(file, "a") as stranger:
            stranger.write('not json\n[1]\n{"kind": 5}\n{"kind": "half')
            stranger.flush()
            self.assertEqual([(entry["kind"], entry["value"]) for entry in tail.read()], [("metric", "ü\n")])
            stranger.write('"}\n')
        self.assertEqual([entry["kind"] for entry in tail.read()], ["half"])


    def test_a_line_knows_when_it_was_written(self):
        log = LineLog(self.folder / "events.jsonl")
        self.addCleanup(log.close)
        before = time.time()
        log.append("ready")
        written = seconds_of(json.loads((self.folder / "events.jsonl").read_text()))
        # A time is kept to the millisecond.
        self.assertLess(before - 0.001, written)
        self.assertLessEqual(written, time.time())

    def test_room_for_the_last_word_is_kept_until_it_is_needed(self):
        reserve = FailureReserve(self.folder / "events.jsonl")
        self.assertGreaterEqual((self.folder / "reserve").stat().st_size, 16_384)
        reserve.release()
        reserve.release()
        self.assertEqual(list(self.folder.iterdir()), [])


class Loggers(unittest.TestCase):
    def setUp(self):
        self.said = []

    def logger(self):
        # As client 0.3.0's executor makes it: a plain function of one event.
        return lambda event: self.said.append(event)

    def test_training_calls_its_logger_and_its_methods(self):
        module = types.ModuleType("model_def")

        def fl_train(model, env, out_dir, logger=None):
            logger("plain")
            logger.info("epoch %d: %s", 1, "ok")
            logger.warning({"kind": "dict"})
            return model

        module.fl_train = fl_train
        wrap_training(module)
        wrap_training(module)
        self.assertEqual(module.fl_train("m", {}, "out", logger=self.logger()), "m")
        told = [{"type": "info", "msg": "epoch 1: ok"}, {"type": "warning", "msg": "{'kind': 'dict'}"}]
        self.assertEqual(self.said, ["plain", *told])
        self.assertFalse(hasattr(module, "fl_validate"))

    def test_levels_names_and_tracebacks_go_as_a_logger_takes_them(self):
        log = self.logger()
        give_methods(log)
        log.log(40, "%(what)s", {"what": "broke"})
        log.error("no value %d", "x")
        try:
            raise ValueError("inside")
        except ValueError:
            log.exception("caught")
        self.assertEqual([event["type"] for event in self.said], ["error", "error", "error"])
        self.assertEqual([event["msg"] for event in self.said[:2]], ["broke", "no value %d x"])
        self.assertIn("ValueError: inside", self.said[2]["msg"])

    def test_a_logger_that_has_methods_or_can_have_none_is_left_alone(self):
        own = logging.getLogger("own")
        give_methods(own)
        self.assertNotIn("info", vars(own))
        give_methods(self.said.append)
        give_methods(None)


class Environment(InFolder):
    def test_threads_follow_the_cpu_quota(self):
        self.write("cpu.max", "150000 100000\n")
        self.assertEqual(cpu_quota(self.folder), 1)
        self.write("cpu.max", "max 100000\n")
        self.assertEqual(cpu_quota(self.folder), len(os.sched_getaffinity(0)))

    def test_of_the_job_says_where_outputs_go_and_keeps_quiet(self):
        environment = job_environment(Layout(), Path("/rt/runner"))
        self.assertEqual(environment["RESONTECH_OUT_DIR"], "/app/out")
        self.assertEqual(environment["RESONTECH_OUT_FILENAME"], "GLOBAL_MODEL.pt")
        self.assertEqual((environment["DO_NOT_TRACK"], environment["WANDB_MODE"]), ("1", "offline"))

    def test_memory_kills_are_counted_in_both_control_group_versions(self):
        self.assertEqual(oom_kills(self.folder), 0)
        self.write("memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
        self.assertEqual(oom_kills(self.folder), 2)
        self.write("memory.events", "low 0\noom 3\noom_kill 3\n")
        self.assertEqual(oom_kills(self.folder), 3)

    def test_the_memory_limit_is_read_in_both_control_group_versions(self):
        self.assertIsNone(memory_limit_bytes(self.folder))
        self.write("memory/memory.limit_in_bytes", "9223372036854771712\n")
        self.assertIsNone(memory_limit_bytes(self.folder))
        self.write("memory/memory.limit_in_bytes", "1048576\n")
        self.assertEqual(memory_limit_bytes(self.folder), 1048576)
        self.write("memory.max", "max\n")
        self.assertIsNone(memory_limit_bytes(self.folder))
        self.write("memory.max", "2097152\n")
        self.assertEqual(memory_limit_bytes(self.folder), 2097152)


if __name__ == "__main__":
    unittest.main()
