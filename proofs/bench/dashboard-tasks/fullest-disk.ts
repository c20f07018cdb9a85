/** Says which disk fills first, and when. */
import type { Office } from "../dashboard/office.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";
import { firstToFill } from "../dashboard/week-of-disks.ts";

const GOAL_S = 15;
/** Between the figures and the look at them. */
const SLACK_MS = 1_800_000;

export async function fullestDisk(office: Office): Promise<Task[]> {
  const root = await office.house.addUser("root");
  const visitor = await visitorOf(office, root, ["platform-admin"]);
  const { page } = visitor;
  const { holds, fillsAt } = firstToFill(Date.now());
  const days = [fillsAt - SLACK_MS, fillsAt + SLACK_MS].map(dayOf);
  return [
    {
      name: "disk-that-fills-first",
      goal_s: GOAL_S,
      visitor,
      expected: `${holds}, on ${days[0]}`,
      answer: async () => {
        await visitor.press(page.getByRole("link", { name: "Appliance", exact: true }));
        const disks = page.getByRole("region", { name: "Disks" });
        return await visitor.read(disks.getByText("fills first"));
      },
      isRight: (said) =>
        said.startsWith(`${holds} fills first`) && days.some((day) => said.includes(day)),
    },
  ];
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
