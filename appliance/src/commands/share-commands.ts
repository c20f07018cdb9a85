/** `appliance shares …`: who is guaranteed how many workers, and who holds them. */
import type { ShareFacts } from "@resontech/contracts/operator-shares";
import { WORKERS_BY_MODEL_HELP, workersByModel } from "@resontech/contracts/workers-by-model";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";

const HEAD = ["SHARE", "KIND", "NAME", "GUARANTEED", "LIMIT", "WEIGHT", "A PERSON", "HELD", "LENT"];

export function addShareCommands(
  program: Command,
  { ask, print, table, say }: OperatorShell,
): void {
  const shares = program
    .command("shares")
    .description(
      "shares of the fleet: what organisation, teams and projects are guaranteed, hold and are lent",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  appliance shares ls\n  appliance shares set p_4f… --guarantee h100=4,cpu=2\n  appliance shares set p_4f… --limit cpu=8 --weight 2",
    );

  leaves(shares.command("ls"), { none: "status" })
    .description("what each is guaranteed and holds now; workers by model")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const answer = await ask("share-list");
      if (json) print(printedAnswer("share-list", answer));
      else table(HEAD, answer.shares.map(row), "nobody is guaranteed anything");
    });

  leaves(shares.command("set <share>"), { event: "admin.shares", loggedBy: "coordinator" })
    .description(
      "guarantee workers, limit them, or weigh a share beside its peers; who borrowed gives back what is guaranteed",
    )
    .option("--guarantee <workers>", "by model, as `h100=4,cpu=2`; `none` takes it away", workersOf)
    .option("--limit <workers>", "the most at any time, by model; `none` takes it away", workersOf)
    .option("--weight <number>", "what is lent goes by weight; 1 at first", Number)
    .option(
      "--person-running <number>",
      "the most workers that one person may have below the share; `none` takes it away",
      countOrNone,
    )
    .option(
      "--person-queued <number>",
      "the most jobs of one person that may wait below the share; `none` takes it away",
      countOrNone,
    )
    .option(
      "--interactive-idle <minutes>",
      "an interactive job that uses nothing for so long is warned, and ended ten minutes later; `none` for an hour",
      countOrNone,
    )
    .option("--json", "one JSON line", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance shares set p_4f… --guarantee cpu=2\n  appliance shares set p_4f… --person-running 4 --person-queued 20\n  appliance shares set p_4f… --guarantee none --limit cpu=8",
    )
    .action(
      async (id: string, { json, interactiveIdle, ...rest }: { json: boolean } & ShareChange) => {
        const change =
          interactiveIdle === undefined
            ? rest
            : { ...rest, interactiveIdleMinutes: interactiveIdle };
        const share = await ask("share-set", { id, ...change });
        if (json) print(printedAnswer("share-set", share));
        else
          say(
            `${share.id}: ${words(share.guarantee, "nothing")} guaranteed, ${words(share.limit, "no")} limit, weight ${share.weight}, a person ${personWords(share)}${
              share.interactiveIdleMinutes === null
                ? ""
                : `, interactive jobs idle for ${share.interactiveIdleMinutes} min`
            }`,
          );
      },
    );
}

type ShareChange = {
  guarantee?: Record<string, number>;
  limit?: Record<string, number>;
  weight?: number;
  personRunning?: number | null;
  personQueued?: number | null;
  interactiveIdle?: number | null;
};

function row(share: ShareFacts): string[] {
  const { id, kind, name, guarantee, limit, weight, held } = share;
  const lent = Object.fromEntries(
    Object.entries(held)
      .map(([model, count]) => [model, count - (guarantee[model] ?? 0)] as const)
      .filter(([, count]) => count > 0),
  );
  return [
    ...[id, kind, name, words(guarantee), words(limit), String(weight), personWords(share)],
    ...[words(held), words(lent)],
  ];
}

function personWords({
  personRunning,
  personQueued,
}: Pick<ShareFacts, "personRunning" | "personQueued">): string {
  const parts = [
    ...(personRunning === null ? [] : [`${personRunning} running`]),
    ...(personQueued === null ? [] : [`${personQueued} queued`]),
  ];
  return parts.length === 0 ? "any" : parts.join(", ");
}

/** @throws InvalidArgumentError */
function countOrNone(text: string): number | null {
  if (text === "none") return null;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError("Write a number from 1, or `none`.");
  return Number(text);
}

function words(amountsByModel: Readonly<Record<string, number>>, none = "-"): string {
  const parts = Object.entries(amountsByModel).map(([model, count]) => `${count} ${model}`);
  return parts.length === 0 ? none : parts.join(", ");
}

function workersOf(text: string): Record<string, number> {
  const amounts = workersByModel(text);
  if (amounts === null) throw new InvalidArgumentError(WORKERS_BY_MODEL_HELP);
  return amounts;
}
