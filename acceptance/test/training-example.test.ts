/** A job written as the public training examples are, with client 0.3.0 and the names that they read from the environment. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { Workstation } from "@resontech/house/workstation";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

t.test(
  "its requirements are in the job image, its data loader's workers run, its model and its site's log come back",
  async (t) => {
    const work = join(t.testdir(), "work");
    mkdirSync(work);
    const example = join(import.meta.dirname, "jobs", "training-example");
    const workstation = await Workstation.open(appliance, work, example);
    const name = `example-${process.pid}`;
    const last = (await workstation.events(["/example/submit.py", name])).at(-1);
    t.match(last, { id: /^job-/, state: "FINISHED", error: null });
    const keys = (last?.["keys"] ?? []) as string[];
    for (const key of [
      "model_out/checkpoint.pt",
      "files_out/metrics.jsonl",
      "files_out/training_log.txt",
      "files_out/logs/site-1.log",
    ])
      t.ok(keys.includes(`jobs/${name}/${key}`), key);
    t.same(await untilNothingIsLeft(appliance, String(last?.["id"])), []);
  },
);
