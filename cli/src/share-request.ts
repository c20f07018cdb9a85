/** `resontech approvals request share`: another guarantee, limit or weight that a second person agrees to. */
import type { Requested } from "@resontech/contracts/http-approvals";
import { WORKERS_BY_MODEL_HELP, workersByModel } from "@resontech/contracts/workers-by-model";
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "./cli-error.ts";

type Options = {
  guarantee?: Record<string, number>;
  limit?: Record<string, number>;
  weight?: number;
  reason?: string;
};

/** @param ask sends the request, and says what came of it */
export function addShareRequest(
  request: Command,
  ask: (what: Requested, reason: string | undefined) => Promise<void>,
): void {
  request
    .command("share <share>")
    .description(
      "have an organisation, a team or a project guaranteed fewer workers, limited, or weighed otherwise; what is left out stays",
    )
    .option("--guarantee <workers>", "by model, as `h100=4,cpu=2`; `none` takes it away", workersOf)
    .option("--limit <workers>", "the most at any time, by model; `none` takes it away", workersOf)
    .option("--weight <number>", "what is lent goes by weight", weightOf)
    .option("--reason <text>", "what the second person should know")
    .addHelpText(
      "after",
      "\nExample:\n  resontech approvals request share p_4f21 --guarantee h100=2 --reason 'agreed in the meeting'",
    )
    .action(async (share: string, { reason, ...change }: Options) => {
      if (Object.keys(change).length === 0)
        throw new UsageError(
          "usage",
          "nothing is to be changed",
          "Say --guarantee, --limit or --weight.",
        );
      await ask({ kind: "share", share, ...change }, reason);
    });
}

function workersOf(text: string): Record<string, number> {
  const amounts = workersByModel(text);
  if (amounts === null) throw new InvalidArgumentError(WORKERS_BY_MODEL_HELP);
  return amounts;
}

function weightOf(text: string): number {
  if (/^\d{1,4}(\.\d{1,4})?$/.test(text) && Number(text) > 0) return Number(text);
  throw new InvalidArgumentError("Write a number above 0.");
}
