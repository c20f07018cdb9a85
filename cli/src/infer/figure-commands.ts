/** `resontech infer top` and `usage`: how deployments do, and what was used of them. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { projectFilter, projectIdOf } from "../chosen-project.ts";
import { settingsFrom } from "../settings.ts";
import { asTable } from "../table.ts";
import { TOP_HEAD, topRow, USAGE_HEAD, usageRow } from "./figures.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

type UsageOptions = { from?: string; to?: string; project?: string; deployment?: string } & {
  json: boolean;
};

const LOOK_MS = 2_000;
/** The cursor goes home, and what is below it is gone. */
const HOME = "\u001b[H\u001b[J";

export function addFigureCommands(infer: Command, { say, table }: Shell): void {
  const settings = () => settingsFrom(process.env);
  const out = (text: string) => process.stdout.write(text);

  infer
    .command("top")
    .description("how each deployment that runs does now, of the last minute; Ctrl-C ends it")
    .option("--once", "one look", false)
    .option("--json", "one JSON line for each deployment at each look", false)
    .addHelpText("after", "\nExamples:\n  resontech infer top\n  resontech infer top --once --json")
    .action(async ({ once, json }: { once: boolean; json: boolean }) => {
      for (;;) {
        const path = "/api/inference/metrics";
        const { deployments } = await getJson(settings(), path);
        const isScreen = process.stdout.isTTY && !once && !json;
        if (isScreen) out(HOME);
        if (json) for (const one of deployments) out(`${JSON.stringify(one)}\n`);
        else if (deployments.length > 0)
          out(asTable(TOP_HEAD, deployments.map(topRow), process.stdout.columns ?? null));
        if (deployments.length === 0) say("no deployment runs");
        if (once) return;
        await sleep(LOOK_MS);
      }
    });

  infer
    .command("usage")
    .description("calls and tokens by day, deployment and key; days are those of UTC")
    .option("--from <day>", "the first day, YYYY-MM-DD")
    .option("--to <day>", "the last day")
    .addOption(projectFilter())
    .option("--deployment <id>", "of one deployment")
    .option("--json", "one JSON line for each row", false)
    .addHelpText(
      "after",
      "\nExamples:\n  resontech infer usage --from 2026-12-01\n  resontech infer usage --deployment job-7f3a --json",
    )
    .action(async ({ json, project: named, ...rest }: UsageOptions) => {
      const query = { ...rest, project: await projectIdOf(settings(), named) };
      const path = "/api/inference/usage";
      const { usage, isCut } = await getJson(settings(), path, { query });
      if (json) for (const one of usage) out(`${JSON.stringify(one)}\n`);
      else if (usage.length > 0) table(USAGE_HEAD, usage.map(usageRow));
      if (usage.length === 0) say("nobody has called a deployment of yours in these days");
      if (isCut) say("there are more rows: name fewer days");
    });
}
