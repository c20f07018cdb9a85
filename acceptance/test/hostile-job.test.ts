import { existsSync, mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import t from "tap";
import { untilNothingIsLeft } from "../../dev/leftovers.ts";
import { LocalAppliance } from "../../dev/local-appliance.ts";
import { Workstation } from "../../dev/workstation.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

type Outcome = { state?: string; error?: unknown; metrics?: { tried: number; uid: number }[] };

t.test(
  "a job that tries to get out of its container is kept in it, and what honest jobs need works",
  async (t) => {
    const work = join(t.testdir(), "work");
    mkdirSync(work);
    const workstation = await Workstation.open(appliance, work, join(import.meta.dirname, "jobs"));
    const found = ["--file", `root.txt=${root}`, "--file", `host.txt=${hostname()}`];
    const script = [
      "/example/run.py",
      "HostileModel",
      "--name",
      `hostile-${process.pid}`,
      "--sites",
      "2",
      ...found,
    ];
    const last = (await workstation.events(script)).at(-1) as Outcome | undefined;
    t.equal(last?.state, "FINISHED", JSON.stringify(last));
    const metrics = last?.metrics ?? [];
    t.equal(metrics.length, 2);
    for (const { tried } of metrics) t.ok(tried >= 38, `${tried} things were tried`);
    t.equal(new Set(metrics.map(({ uid }) => uid)).size, 2, "each site is a user of its own");
    t.same(await untilNothingIsLeft(appliance), []);
  },
);
