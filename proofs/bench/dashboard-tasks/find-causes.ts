/** Finds why each of twelve broken jobs failed. */
import { breakJobs } from "./broken-jobs.ts";
import type { Office } from "../dashboard/office.ts";
import type { Task } from "./task.ts";
import { visitorOf } from "./visitor-of.ts";

const GOAL_S = 30;

export async function findCauses(
  office: Office,
  progress: (line: string) => void,
): Promise<Task[]> {
  const jobs = await breakJobs(office, progress);
  const visitor = await visitorOf(office, office.ada);
  const { page } = visitor;
  return jobs.map(({ name, cause, says, told }) => ({
    name: `why-${name.replaceAll(" ", "-")}`,
    goal_s: GOAL_S,
    visitor,
    expected: `${cause}, ${told}`,
    answer: async () => {
      await visitor.press(page.getByRole("link", { name: "Jobs", exact: true }));
      await visitor.press(page.getByRole("link", { name, exact: true }));
      const sentences = page
        .getByRole("alert")
        .getByRole("paragraph")
        .or(page.getByText(/needs \d+ workers?;/i));
      await sentences.first().waitFor();
      const shown = Math.min(2, await sentences.count());
      const texts: string[] = [];
      for (let at = 0; at < shown; at += 1) texts.push(await visitor.read(sentences.nth(at)));
      return texts.join(" ");
    },
    isRight: (said: string) => says.every((one) => one.test(said)),
  }));
}
