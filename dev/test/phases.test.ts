import t from "tap";
import { Phases } from "../phases.ts";

t.test("what the set-up took before counts as a phase, and in all", async (t) => {
  const phases = new Phases("try", 53_700);
  await phases.run("build", "building", () => Promise.resolve());
  t.match(phases.seconds, { setup: 53.7, build: Number });
  t.ok(phases.totalSeconds >= 53.7, `${phases.totalSeconds} s in all`);
});
