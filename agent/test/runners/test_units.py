"""What needs no NVFlare: runs with any Python 3.11."""

import hashlib
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_runner import kit
from resontech_runner.environment import cpu_quota, job_environment
from resontech_runner.events import FailureReserve, LineLog, LineTail, seconds_of
from resontech_runner.failure import SiteError, failure_of
from resontech_runner.job_folder import assemble_job, resume_job
from resontech_runner.layout import Layout
from resontech_runner.log_lines import METRIC_MAX_BYTES, TracebackCollector, last_lines, message_of, metric_of
from resontech_runner.memory_limit import oom_kills
from resontech_runner.model_file import find_model, settled_model
from resontech_runner.rounds import RoundEnded, RoundStarted, RoundTracker
from resontech_runner.spec import Resume, SpecError, read_spec

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
    def test_a_metric_is_the_whole_message_and_an_object(self):
        cases = {
            'RT_METRIC {"round": 1}': '{"round": 1}',
            'RT_METRIC   {"a": [1, 2]}  ': '{"a": [1, 2]}',
            'say RT_METRIC {"round": 1}': None,
            "RT_METRIC 1": None,
            "RT_METRIC [1]": None,
            "RT_METRIC {broken": None,
            'RT_METRIC {"loss": NaN}': None,
            "RT_METRIC " + '{"a":' * 3000 + "1" + "}" * 3000: None,
            'RT_METRIC {"a": "' + "x" * METRIC_MAX_BYTES + '"}': None,
            'RT_METRIC{"a": 1}': None,
        }
        for message, expected in cases.items():
            with self.subTest(message[:40]):
                self.assertEqual(metric_of(message), expected)

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
            "2026 - other - INFO - goes on\n"
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

    def test_what_never_ends_is_no_traceback_and_takes_bounded_memory(self):
        collector = TracebackCollector()
        collector.feed("Traceback (most recent call last):\n")
        for _ in range(100_000):
            collector.feed("  File 'x'\n")
        self.assertEqual(list(collector.found), [])
        self.assertLess(len(collector._open), 1000)

    def test_details_are_short(self):
        self.assertEqual(len(last_lines("\n".join(["x" * 1000] * 500))), 8192)


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

    def test_a_sites_own_word_wins_and_names_the_site(self):
        failure = failure_of("aborted", [self.OURS], [SiteError("site-2", "EXECUTION_EXCEPTION", self.USER)])
        self.assertEqual(failure.message, "site-2: ValueError: bad column")
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


class Models(InFolder):
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
        self.assertLess(abs(written - before), 1)

    def test_room_for_the_last_word_is_kept_until_it_is_needed(self):
        reserve = FailureReserve(self.folder / "events.jsonl")
        self.assertGreaterEqual((self.folder / "reserve").stat().st_size, 16_384)
        reserve.release()
        reserve.release()
        self.assertEqual(list(self.folder.iterdir()), [])


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


if __name__ == "__main__":
    unittest.main()
