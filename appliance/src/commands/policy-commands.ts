/** `appliance policy …`: by which policies is decided, and what others would decide. */
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatInstant } from "../status/decisions/quantities.ts";
import { showPolicies, tryPolicies } from "./policy-trial.ts";

export function addPolicyCommands(
  program: Command,
  { openContext, ask, print, table, say }: OperatorShell,
): void {
  const policy = program
    .command("policy")
    .description("who may do what: the policies in force, and trying others")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance policy show\n  appliance policy try /root/cedar-next --json",
    );

  leaves(policy.command("show"), { none: "policies are a part of the release" })
    .description("the policies of the release, with the SHA-256 that the audit log names them by")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const shown = await showPolicies(openContext().layout);
      if (json) return print(shown);
      table(
        ["POLICY", "EFFECT", "FILE"],
        shown.policies.map(({ id, effect, file }) => [id, effect, file]),
        "no policy",
      );
      say(`${shown.folder}\nSHA-256 ${shown.sha256}`);
    });

  leaves(policy.command("try <dir>"), {
    none: "nothing changes, and the decisions it reads name nobody",
  })
    .description(
      "ask the policies in a folder about the distinct decisions of the last week, and show which they would change",
    )
    .option("--json", "one JSON line", false)
    .action(async (folder: string, { json }: { json: boolean }) => {
      const trial = await tryPolicies(openContext().layout, ask, folder);
      if (json) return print(trial);
      table(
        ["CALLER", "ACTION", "ROW", "TIMES", "LAST", "NOW", "THEN"],
        trial.changed.map(({ who, action, row, times, lastAt, before, after }) => [
          ...[who, action, row, String(times)],
          ...[formatInstant(new Date(lastAt).toISOString()), before, after],
        ]),
        "nothing would change",
      );
      say(
        `${trial.changed.length} of ${trial.asked} distinct decisions of the last week would change`,
      );
    });
}
