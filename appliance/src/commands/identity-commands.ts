/** `appliance identity …`: the realm as the release has it, against the one that Keycloak has. */
import { EXIT } from "@resontech/contracts/exit-codes";
import { applyRealm } from "@resontech/keycloak/apply-realm";
import type { Drift } from "@resontech/keycloak/realm-drift";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import { applianceAdmin } from "../keycloak/appliance-admin.ts";
import { ownRealm } from "../keycloak/own-realm.ts";
import { pinRealmKeys } from "../keycloak/pin-step-up-keys.ts";
import { compareRealm } from "../keycloak/realm-watch.ts";
import type { PartContext } from "../parts/context.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { addConnectionCommands } from "./connection-commands.ts";
import { addConnectCommands } from "./connect-commands.ts";
import { addGroupCommands } from "./group-commands.ts";

const HEAD = ["KIND", "NAME", "WHAT", "WANTED", "FOUND"];
/** Of a setting; whole ones are in `--json`. */
const SHOWN = 32;

export function addIdentityCommands(program: Command, shell: OperatorShell): void {
  const { openContext, print, table, say } = shell;
  const identity = program
    .command("identity")
    .description(
      "sign-in: connect, ls, test, disconnect the customer's directory; map its groups; diff, apply the realm; restore an administrator",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  appliance identity connect ldap --help\n  appliance identity test corp --user anna\n  appliance identity map corp/doctors --project p_4f… --role researcher\n  appliance identity diff",
    );

  addConnectCommands(identity, shell);
  addConnectionCommands(identity, shell);
  addGroupCommands(identity, shell);

  leaves(identity.command("restore-administrator <name>"), {
    event: "iam.role.change",
    loggedBy: "coordinator",
  })
    .description(
      "make a user administrator without two people, where none is left; a finding tells of it until a second person acknowledges it",
    )
    .addHelpText("after", "\nExample:\n  appliance identity restore-administrator anna")
    .action(async (username: string) => {
      await shell.ask("restore-administrator", { username });
      say(
        `${username} is administrator from the next sign-in on, and appliance status tells of it`,
      );
    });

  leaves(identity.command("diff"), { none: "reads settings, and nothing of people" })
    .description("what of the realm differs from the release; exit code 3 where anything does")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const drift = await compareRealm(openContext());
      if (json) print({ drift });
      else table(HEAD, drift.map(row), "the realm is as the release has it");
      if (drift.length > 0) process.exitCode = EXIT.notAsWanted;
    });

  leaves(identity.command("apply"), { event: "admin.identity" })
    .description("make the realm as the release has it; what is right is not touched")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const drift = await applyRecorded(openContext());
      if (json) print({ applied: drift });
      else if (drift.length === 0) say("the realm was as the release has it");
      else table(HEAD, drift.map(row), "");
    });
}

async function applyRecorded(context: PartContext): Promise<Drift[]> {
  const drift = await compareRealm(context);
  await using producer = await connectOperator(context.layout);
  const operation = {
    type: "admin.identity",
    action: "appliance identity apply",
    object: { kind: "appliance", id: "appliance" },
    detail: { differences: drift.length },
  } as const;
  return await operated(producer, [operation], async () => {
    const result = await applyRealm(await applianceAdmin(context), ownRealm(context));
    const { added, retired } = await pinRealmKeys(context);
    const detail = { differences: result.length, keys_added: added, keys_retired: retired };
    return { result, detail };
  });
}

function row({ kind, name, what, want, have }: Drift): string[] {
  return [kind, name, what, short(want), short(have)];
}

function short(json: string | null): string {
  if (json === null) return "";
  return json.length > SHOWN ? `${json.slice(0, SHOWN - 1)}…` : json;
}
