/** Compares two runs: which ended more accurate, and in which argument they differ. */
import type { Office } from "../dashboard/office.ts";
import { RATES, trainTwice } from "./two-runs.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";

const GOAL_S = 30;

export async function compareRuns(office: Office): Promise<Task[]> {
  const runs = await trainTwice(office);
  const best = runs.toSorted((a, b) => b.accuracy - a.accuracy)[0]!;
  const visitor = await visitorOf(office, office.ada);
  const { page } = visitor;
  return [
    {
      name: "compare-two-runs",
      goal_s: GOAL_S,
      visitor,
      expected: `${best.name} with ${best.accuracy}; --rate ${RATES.join(" and ")}`,
      answer: async () => {
        await visitor.press(page.getByRole("link", { name: "Jobs", exact: true }));
        for (const { name } of runs) await visitor.press(page.getByLabel(`Tick ${name}`));
        await visitor.press(page.getByRole("button", { name: "Compare", exact: true }));
        const outcome = page.getByRole("table", { name: "What came of it" });
        const heads = await visitor.read(outcome.getByRole("row").first());
        const accuracy = await visitor.read(outcome.getByRole("row", { name: /Last accuracy/ }));
        const differing = page.getByRole("table", { name: "What differs" });
        const rate = await visitor.read(differing.getByRole("row", { name: /Arguments/ }));
        return [heads, accuracy, rate].join(" | ");
      },
      isRight: (said) => {
        const [heads = "", accuracy = "", rate = ""] = said.split(" | ");
        const [first, second] = runs.toSorted(
          (a, b) => heads.indexOf(a.name) - heads.indexOf(b.name),
        );
        const told = [first!, second!].map((run) => `${run.accuracy}${run === best ? "best" : ""}`);
        return (
          accuracy === `Last accuracy ${told.join(" ")}` &&
          RATES.every((one) => rate.includes(`--rate ${one}`))
        );
      },
    },
  ];
}
