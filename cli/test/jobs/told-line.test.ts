import type { Change } from "@resontech/contracts/live-feed";
import t from "tap";
import { toldLine } from "../../src/jobs/told-line.ts";

const told = (change: Change) => toldLine("2026-01-01T00:00:10.000Z", change, (id) => id);

t.test("what a job stored and waits for is told in the units that people read", async (t) => {
  const ofJob = { job: "job-1", member: "m-1" };
  t.equal(
    told({ kind: "output", ...ofJob, key: "model.pt", sizeBytes: 9 * 1024 ** 2 }),
    "00:00:10Z  stored model.pt (9.0 MiB)",
  );
  const why = "its server needs 9663676416 bytes of memory; no node has as much";
  t.equal(
    told({ kind: "waiting", job: "job-1", why }),
    "00:00:10Z  waits: its server needs 9.0 GiB of memory; no node has as much",
  );
});
