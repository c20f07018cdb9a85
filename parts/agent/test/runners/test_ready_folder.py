"""A ready folder that another room lays out (RT_TEST_READY_FOLDER), trained by real NVFlare to its end. Prints the metrics of each site."""

import base64
import json
import os
from pathlib import Path

from federation import Federation, JobImage
from test_attempts import SITES, SOURCE, AttemptTest, forge


class ReadyFolder(AttemptTest):
    def test_trains_to_its_end(self):
        folder = Path(os.environ["RT_TEST_READY_FOLDER"])
        image = JobImage.from_environment()
        forged = {
            # Keys and certificates; all else is the folder's own.
            "kits": forge(image, SOURCE, self.rounds, tuple(SITES))["kits"],
            **{kind: {file.name: file.read_text() for file in (folder / kind).iterdir()} for kind in ("scripts", "configs")},
            "shards": {
                site: base64.b64encode(file.read_bytes()).decode()
                for site, file in zip(SITES, sorted((folder / "shards").iterdir()))
            },
        }
        federation = Federation(self.folder / "attempt", image, SITES, forged)
        self.addCleanup(federation.close)
        federation.start()
        self.assertEqual([self.end(federation, member) for member in ("server", *SITES)], [0, 0, 0])
        events = federation.events("server")
        self.assertEqual(events[-1]["kind"], "finished", events[-1])
        for event in events:
            if event["kind"] == "metric":
                print("METRIC " + json.dumps({"site": event["site"], "value": json.loads(event["value"])}), flush=True)
