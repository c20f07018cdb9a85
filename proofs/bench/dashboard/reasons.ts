/** Figure 6: whatever ends or holds a job is told as a sentence with what to do, soon. */
import { errorHint } from "@resontech/dashboard/error-hint";
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import { REASONS, reasonWords } from "@resontech/coordinator/reasons";
import { federation } from "@resontech/coordinator/federation";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import type { LiveJob } from "./live-job.ts";
import { ALL_REASONS, jobOfReason } from "./seed.ts";
import type { World } from "./world.ts";

const MOST_S = 5;

export async function everyReason(world: World, live: LiveJob): Promise<Figure> {
  const page = await world.page(world.owner.userId);
  const missing: string[] = [];
  for (const reason of ALL_REASONS) {
    await visit(page, `${world.url}/jobs/${jobOfReason(reason)}`);
    const shown = await page.getByRole("alert").first().textContent();
    const { hint } = reasonWords(reason, federation.reasonWords);
    // The sentence of a job that failed has where and when, as its member told it: with numbers.
    const isWhole =
      shown !== null && shown.includes(onPage(hint)) && /\d/.test(shown) && shown.includes(reason);
    if (!isWhole) missing.push(reason);
  }
  await visit(page, `${world.url}/jobs`);
  await page.getByRole("group", { name: "Jobs, newest first" }).waitFor();
  const waiting = await world.house.submit(world.owner, "waits-for-workers");
  const waitedFrom = performance.now();
  await visit(page, `${world.url}/jobs/${waiting}`);
  await page.getByText(/needs \d+ workers; \d+ of \d+ would do now/i).waitFor();
  const waitingS = (performance.now() - waitedFrom) / 1_000;

  await visit(page, `${world.url}/jobs/${live.job}`);
  await page.getByText(/It runs on \d+ sites/).waitFor();
  await live.agent.report(live.server, {
    ...{ kind: "failed", reason: "user_exception", message: "site-1: ValueError at step 12" },
    detail: "ValueError: 12 of 20 rows",
  });
  // It ends once all its members are gone, and with that it is told why.
  await live.agent.desired();
  for (const member of live.members) await live.agent.report(member, CLEAN);
  const failedFrom = performance.now();
  await page.getByText("ValueError at step 12").first().waitFor();
  await page.getByText(onPage(REASONS.user_exception.hint).slice(0, 40)).first().waitFor();
  const failedS = (performance.now() - failedFrom) / 1_000;
  await page.context().close();
  return {
    goal: "every reason of the kernel has sentence, numbers and next step, shown at most 5 s after a change",
    measured: {
      ...{ reasons: ALL_REASONS.length, without: missing },
      ...{ waiting_told_after_s: rounded(waitingS, 2), failure_told_after_s: rounded(failedS, 2) },
    },
    met: missing.length === 0 && waitingS <= MOST_S && failedS <= MOST_S,
  };
}

/** Text between backticks is set as code there. */
function onPage(hint: string): string {
  return errorHint(hint).replaceAll("`", "");
}
