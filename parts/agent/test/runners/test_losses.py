"""Sites and connections that are lost while a whole attempt on real NVFlare runs (federation.py): minutes each, run by the proof `site-losses`."""

import contextlib
import json
import subprocess
import unittest

from federation import Federation
from test_attempts import SITES, SOURCE, AttemptTest

# The same model with 16 MB more, for which a link needs 0.8 s.
BALLAST_BYTES = 16_000_000
LARGE = SOURCE.replace("        self.features =", f"        self.ballast = nn.Parameter(torch.zeros({BALLAST_BYTES // 4}))\n        self.features =", 1)
# How long the server waits for a piece of an update; NVFlare's own limit is 600 s.
IMPATIENT = {"NVFLARE_NP_STREAMING_PER_REQUEST_TIMEOUT": "1"}
# NVFlare's own word in a site's log.
UPDATE_BEGINS = "Starting to push execute result"


class LossTest(AttemptTest):
    def until_update(self, federation: Federation, site: str) -> None:
        """Until a quarter of the site's next update has come to the server, over a link."""
        before = federation.log(site).count(UPDATE_BEGINS)
        self.until(lambda: federation.log(site).count(UPDATE_BEGINS) > before, federation)
        enough = federation.carried() + BALLAST_BYTES // 4
        self.until(lambda: federation.carried() > enough, federation)


class Rejoin(LossTest):
    # More than are needed: how soon the new container takes part is the machine's affair.
    rounds = 16

    def test_a_site_whose_container_is_replaced_takes_part_again(self):
        federation = self.begin(change=self.quorum_of_one)
        self.until_contributed(SITES, 0, federation)
        federation.kill("site-2")
        self.come_again(federation)
        self.assertEqual(self.end(federation), 0, federation.log("server")[-3000:])
        self.assertIn(self.let_go(federation, "site-2"), (0, 143), federation.log("site-2")[-3000:])
        self.assertEqual(len(self.contributions(federation)), self.rounds)

    def test_a_site_is_replaced_that_was_lost_while_the_server_fetched_its_update(self):
        federation = self.begin(source=LARGE, change=self.quorum_of_one, far=("site-2",), environment=IMPATIENT)
        self.until_contributed(SITES, 0, federation)
        # On a busy machine a kill may come when the update is through.
        for _ in range(3):
            self.until_update(federation, "site-2")
            federation.kill("site-2")
            self.come_again(federation)
            if "failed to download from site-2" in federation.log("server"):
                return
        self.fail(f"no kill came while an update was under way: {federation.log('server')[-3000:]}")

    def let_go(self, federation: Federation, member: str) -> int:
        """Ends by itself with the server's word, else by the stop that the agent sends once the server is done."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return federation.wait(member, 10)
        federation.terminate(member)
        return self.end(federation, member)

    @staticmethod
    def quorum_of_one(scripts, configs):
        """A round waits 5 s for a second site."""
        server = json.loads(configs["config_fed_server.json"])
        server["workflows"][0]["args"].update(min_clients=1, wait_time_after_min_received=5)
        meta = {**json.loads(configs["meta.json"]), "min_clients": 1}
        return scripts, {**configs, "config_fed_server.json": json.dumps(server), "meta.json": json.dumps(meta)}

    def come_again(self, federation: Federation) -> None:
        """A round without the lost site, then one with its new container."""
        lost = len(self.contributions(federation))
        self.until_contributed(["site-1"], lost, federation)
        replaced = len(self.contributions(federation))
        federation.replace("site-2")
        self.until_contributed(SITES, replaced, federation)

    def until_contributed(self, sites: list[str], first: int, federation: Federation) -> None:
        """Until one of the rounds from the `first` on has ended with what just these sites gave."""
        self.until(lambda: sites in self.contributions(federation)[first:], federation)

    @staticmethod
    def contributions(federation: Federation) -> list[list[str]]:
        return [event["sites"] for event in federation.events("server") if event["kind"] == "round-ended"]


class Link(LossTest):
    rounds = 8

    def test_what_a_broken_connection_lost_is_sent_again(self):
        federation = self.begin(source=LARGE, far=("site-2",), environment=IMPATIENT)
        # No wait is longer than TIMEOUT_S: a message that waits for NVFlare's own 300 s is too late for each.
        for number in (0, 2):
            self.until_ended(federation, number)
            federation.break_link()
        self.until_ended(federation, 4)
        self.until_update(federation, "site-2")
        federation.break_link()
        self.assertEqual([self.end(federation, member) for member in ("server", *SITES)], [0, 0, 0])
        # Once more when the server has ended.
        self.assertGreaterEqual(federation.log("site-2").count("the connection to the server broke"), 3)
        ends = [event for event in federation.events("server") if event["kind"] == "round-ended"]
        self.assertEqual([(event["round"], event["sites"]) for event in ends], [(n, SITES) for n in range(8)])

    def until_ended(self, federation: Federation, number: int) -> None:
        self.until(lambda: number in [e["round"] for e in federation.events("server") if e["kind"] == "round-ended"], federation)


if __name__ == "__main__":
    unittest.main()
