/** `appliance config show | diff | apply`: what is set, in one file that can be kept. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import { applySettings, deriveConfigs, requireSecrets } from "../settings/apply-settings.ts";
import type { SettingChange } from "../settings/decisions/setting-changes.ts";
import { planApply } from "../settings/plan-apply.ts";
import { readSettings, readSettingsFile } from "../settings/read-settings.ts";
import type { OperatorShell } from "./ask-operator.ts";

/** @param restart stops and starts these parts, while jobs go on */
export function addConfigCommands(
  program: Command,
  { openContext, print, table, say }: OperatorShell,
  restart: (parts: readonly string[]) => Promise<void>,
): void {
  const config = program
    .command("config")
    .description("what is set of the appliance, in one file that can be kept")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance config show > settings.json\n  appliance config diff settings.json\n  appliance config apply settings.json --restart",
    );

  leaves(config.command("show"), { none: "reads settings, and nothing of people" })
    .description("every setting as JSON: choices of the install, and files of the parts")
    .option("--json", "one JSON line", false)
    .action(({ json }: { json: boolean }) => {
      const settings = readSettings(openContext());
      if (json) print(settings);
      else say(JSON.stringify(settings, null, 2));
    });

  leaves(config.command("diff <file>"), { none: "reads settings, and nothing of people" })
    .description("where a file differs from what is set; what it does not name is no difference")
    .option("--json", "one JSON line", false)
    .action((file: string, { json }: { json: boolean }) => {
      const context = openContext();
      const { document } = readSettingsFile(context, resolve(file));
      const { changes, outdated } = planApply(context, document);
      if (json) print({ changes, outdated });
      else {
        showChanges(changes, "nothing differs", table);
        for (const part of outdated)
          say(`set, but ${part} runs with the older: appliance config apply ${file} --restart`);
      }
      if (changes.length > 0 || outdated.length > 0) process.exitCode = EXIT.notAsWanted;
    });

  leaves(config.command("apply <file>"), { event: "admin.config" })
    .description("set what a file has; what it does not name stays")
    .option(
      "--restart",
      "restart the parts that read a changed setting at their start alone",
      false,
    )
    .option("--json", "one JSON line", false)
    .action(async (file: string, options: { restart: boolean; json: boolean }) => {
      const context = openContext();
      const { document, bytes } = readSettingsFile(context, resolve(file));
      const { changes, restarts } = planApply(context, document);
      if (changes.length > 0) {
        requireSecrets(context, document);
        await using producer = await connectOperator(context.layout);
        const operation = {
          ...({ type: "admin.config", action: "appliance config apply" } as const),
          object: { kind: "appliance", id: "appliance" } as const,
          detail: {
            changed: changes.map(({ name }) => name.replace("/", ":")),
            file_sha256: createHash("sha256").update(bytes).digest("hex"),
          },
        };
        await operated(producer, [operation], async () => ({
          result: applySettings(context, document, restarts),
        }));
        // Set by a command that was cut: what it did not derive any more.
      } else if (restarts.length > 0) deriveConfigs(context, restarts);
      if (options.restart && restarts.length > 0) await restart(restarts);
      if (options.json)
        return print({ changes, restarts, restarted: options.restart && restarts.length > 0 });
      showChanges(changes, "nothing differs: nothing was changed", table);
      if (restarts.length > 0 && !options.restart)
        say(`in force once they start anew: appliance restart ${restarts.join(" ")}`);
    });
}

function showChanges(
  changes: readonly SettingChange[],
  none: string,
  table: OperatorShell["table"],
): void {
  const rows = changes.flatMap(({ name, members }) =>
    members.map(({ path, now, file }) => [`${name}${path}`, wordOf(now), wordOf(file)]),
  );
  table(["SETTING", "NOW", "IN THE FILE"], rows, none);
}

function wordOf(value: unknown): string {
  return value === null ? "-" : JSON.stringify(value);
}
