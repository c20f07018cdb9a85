"""What the programs of replicas share, without a process."""

import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runners"))

from resontech_replica.call_progress import CallProgress  # noqa: E402
from resontech_replica.activity import activity_of  # noqa: E402
from resontech_replica.standing import RanAt, judge  # noqa: E402
from resontech_replica.watch_clock import WatchClock  # noqa: E402
from resontech_replica.wish import Wish, WishFile  # noqa: E402


class Standings(unittest.TestCase):
    def test_a_busy_one_is_stalled_and_only_what_does_not_run_is_hung(self):
        standing = lambda now, moved, ran: judge(now, moved, ran, 600, "nothing came").standing  # noqa: E731
        self.assertEqual(standing(7, 0, 0), "well")
        self.assertEqual(standing(9, 0, 0), "stalled")
        self.assertEqual(standing(11, 0, 0), "hung")
        self.assertEqual(standing(500, 0, 495), "stalled", "a slow prefill")
        self.assertEqual(standing(601, 0, 600), "hung", "not for ever")
        self.assertEqual(standing(500, 499, 0), "well")

    def test_what_ran_for_real(self):
        def last_run(share_busy, ticks_each):
            ran = RanAt(0.0)
            for look in range(1, 201):
                at = ran.see(look * 0.05, int(look * ticks_each), look % 20 < share_busy * 20)
            return at

        self.assertEqual(last_run(0, 0), 0.0)
        self.assertEqual(last_run(0.25, 0.05), 0.0, "wakes to wait")
        self.assertGreater(last_run(0, 1), 7, "a fifth of a processor")
        self.assertGreater(last_run(1, 0), 7, "the host gives it none")

    def test_a_host_that_stood_still_has_not_watched(self):
        clock = WatchClock(100.0)
        self.assertEqual([clock.tick(now) for now in (100.5, 500.0, 499.0, 499.5)], [0.5, 1.5, 1.5, 2.0])


class Progress(unittest.TestCase):
    def judged(self, *beats):
        progress = CallProgress(60, 0)
        for now, oldest, ended in beats:
            progress.hear(now, {"oldestS": oldest, "ended": ended})
        return lambda now, ran=None: progress.judge(now, now if ran is None else ran).standing

    def test_calls_that_end_are_progress_and_one_beyond_its_time_is_not(self):
        self.assertEqual(self.judged((100, None, 3))(101), "well")
        self.assertEqual(self.judged((100, 30, 3))(101), "well", "first heard of now")
        self.assertEqual(self.judged((80, 10, 3), (100, 30, 3))(101), "stalled")
        self.assertEqual(self.judged((80, 10, 3), (100, 30, 4))(101), "well", "others end")
        self.assertEqual(self.judged((80, 10, 3), (100, 66, 4))(101), "hung", "it can't be interrupted")

    def test_what_is_no_word_of_ours_is_no_call(self):
        for oldest in ("1", True, [], {}):
            self.assertEqual(self.judged((100, oldest, oldest))(101), "well")

    def test_silence(self):
        heard = self.judged((100, None, 0))
        self.assertEqual([heard(109), heard(150), heard(166), heard(111, 100)], ["stalled", "stalled", "hung", "hung"])


class Wishes(unittest.TestCase):
    def test_the_file_is_read_when_it_is_another_one(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "wish.json")
            wishes = WishFile(file)
            self.assertEqual(wishes.read(), Wish(0, False))
            for order in (1, 2):
                Path(folder, "fresh").write_text(json.dumps({"order": order, "asleep": order == 1}))
                os.rename(Path(folder, "fresh"), file)
                self.assertEqual((wishes.read(), wishes.read()), (Wish(order, order == 1),) * 2)


class Activities(unittest.TestCase):
    def test_this_very_process_runs_and_one_that_is_gone_has_none(self):
        end = time.monotonic() + 0.3
        before = activity_of(os.getpid())
        while time.monotonic() < end or activity_of(os.getpid()).ticks == before.ticks:
            pass
        self.assertTrue(activity_of(os.getpid()).is_busy)
        self.assertIsNone(activity_of(1 << 22 | 1))


if __name__ == "__main__":
    unittest.main()
