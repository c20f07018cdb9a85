/** `appliance identity ls | test | disconnect`: what of the customer's is connected, and whether it works. */
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Check } from "@resontech/keycloak/check";
import type { Connection } from "@resontech/contracts/identity-connections";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { issuerOf, readConnections } from "../config/connections.ts";
import {
  disconnectDirectory,
  findConnection,
  tryConnected,
} from "../keycloak/connect-directory.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { readSecret } from "./read-secret.ts";

const HEAD = ["NAME", "KIND", "WHERE", "GROUPS"];

export function addConnectionCommands(
  identity: Command,
  { openContext, print, table, say }: OperatorShell,
): void {
  leaves(identity.command("ls"), { none: "reads settings, and nothing of people" })
    .description("the connected directories and identity providers")
    .option("--json", "one JSON line", false)
    .action(({ json }: { json: boolean }) => {
      const { connections } = readConnections(openContext().layout);
      if (json) print({ connections });
      else
        table(
          HEAD,
          connections.map(row),
          "nothing is connected: appliance identity connect --help",
        );
    });

  leaves(identity.command("test <name>"), { event: "admin.identity.connection" })
    .description("try a connection and say what is wrong; exit code 3 where anything is")
    .option("--user <name>", "somebody of an LDAP directory whose sign-in is tried")
    .option("--password-file <file>", "the person's password; asked for where it is not given")
    .option("--no-password", "only look for the person")
    .option("--json", "one JSON line", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance identity test corp\n  appliance identity test corp --user anna",
    )
    .action(async (name: string, options: TestOptions) => {
      const context = openContext();
      const { kind } = findConnection(context.layout, name);
      const { user } = options;
      if (user !== undefined && kind !== "ldap")
        throw new InvalidArgumentError(
          "--user: only a browser can try a person of an OIDC or SAML provider",
        );
      const person =
        user === undefined
          ? null
          : {
              username: user,
              password: options.password
                ? await readSecret(
                    options.passwordFile ?? null,
                    `password of ${user}`,
                    "--password-file",
                  )
                : null,
            };
      const checks = await tryConnected(context, name, person);
      if (options.json) print({ checks });
      else for (const line of linesOf(checks)) say(line);
      if (checks.some(({ fault }) => fault !== null)) process.exitCode = EXIT.notAsWanted;
    });

  leaves(identity.command("disconnect <name>"), { event: "admin.identity.connection" })
    .description(
      "take a connection away: its people can't sign in any more; their jobs, buckets and keys stay",
    )
    .action(async (name: string) => {
      await disconnectDirectory(openContext(), name);
      say(`${name} is disconnected; its people's sessions end within four minutes`);
    });
}

type TestOptions = { user?: string; passwordFile?: string; password: boolean; json: boolean };

/** One line for what is right, three for what is not. */
export function linesOf(checks: readonly Check[]): string[] {
  return checks.flatMap(({ what, fault, todo }) =>
    fault === null
      ? [`right  ${what}`]
      : [`WRONG  ${what}`, `       ${fault}`, `       what to do: ${todo ?? ""}`],
  );
}

function row(connection: Connection): string[] {
  const { kind, name } = connection;
  return kind === "ldap"
    ? [name, kind, connection.url, connection.groups?.dn ?? ""]
    : [name, kind, issuerOf(connection).slice(5), connection.groupsFrom ?? ""];
}
