/** A job that is no federation, on the installed appliance: one script on one worker, by the same API. */
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

type Outcome = {
  id: string;
  status: string;
  detail: Record<string, unknown>;
  texts: Record<string, string>;
  curves: object[];
};

t.test(
  "its inputs lie where it looks, nothing is reached from it, and what it wrote and said comes back",
  async (t) => {
    const name = `prepared-${process.pid}`;
    const work = join(t.testdir(), "work");
    mkdirSync(work);
    const example = join(import.meta.dirname, "jobs", "command");
    const workstation = await Workstation.open(appliance, work, example);
    const told = (await workstation.events(["/example/submit.py", name])).at(-1) as Outcome;
    const { id, status, detail, texts, curves } = told;
    t.equal(status, "FINISHED", JSON.stringify(detail));
    t.match(detail, { kind: "command", state: "SUCCEEDED", attempt: 1, error: null });
    const found = JSON.parse(texts[`jobs/${name}/files_out/table/sums.json`] ?? "{}") as Record<
      string,
      unknown
    >;
    t.match(found, { sums: { "raw/a.csv": 6, "raw/deep/b.csv": 10 }, reached: false });
    t.equal(
      texts[`jobs/${name}/files_out/logs/command.log`],
      `RT_METRIC {"step": 1, "sum": 16}\nsummed 2 files at level 7\n`,
    );
    t.match(curves, [{ site: "command", name: "sum", axis: "step", points: [[1, 16, 16, 16]] }]);
    t.same(await untilNothingIsLeft(appliance, id), []);
  },
);
