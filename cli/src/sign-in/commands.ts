/** `resontech login`, `whoami`, `logout`. */
import type { CallerReply } from "@resontech/contracts/http-identity";
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { applianceUrl, caOf, settingsFrom } from "../settings.ts";
import { revoke, signIn } from "./device-grant.ts";
import { readSession, removeSession, sessionFile, writeSession } from "./kept-session.ts";

type Say = (text: string) => void;

const SECOND_FACTOR = "2";

/** @param say to the person, beside what a script reads */
export function addSignInCommands(program: Command, say: Say): void {
  program
    .command("login [url]")
    .description("sign in: confirm a code in a browser; the shell stays signed in for 8 hours")
    .addHelpText(
      "after",
      "\nWho has a second factor shows it each time. What needs a fresh sign-in is open for five minutes then.\n\nExample:\n  resontech login https://appliance.example:8000",
    )
    .action(async (url: string | undefined) => {
      const file = sessionFile(process.env);
      const base = url ?? process.env["RESON_BASE_URL"] ?? readSession(file)?.baseUrl ?? "";
      const appliance = { baseUrl: applianceUrl(base), ca: caOf(process.env) };
      const { session, acr } = await signIn(appliance, ({ url: page, code }) => {
        say(`Open ${page}`);
        say(`and confirm the code ${code}. Waiting …`);
      });
      writeSession(file, session);
      say(
        `signed in as ${session.username}${acr === SECOND_FACTOR ? ", with a second factor" : ""}`,
      );
    });

  program
    .command("whoami")
    .description("who the appliance takes this shell for")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const me = (await getJson(settingsFrom(process.env), "/api/me")) as CallerReply;
      if (json) process.stdout.write(`${JSON.stringify(me)}\n`);
      else process.stdout.write(`${linesOf(me).join("\n")}\n`);
    });

  program
    .command("logout")
    .description("end the sign-in of this shell, here and at the appliance")
    .action(async () => {
      const file = sessionFile(process.env);
      const session = readSession(file);
      removeSession(file);
      if (session === null) return say("nobody was signed in");
      try {
        await revoke({ baseUrl: applianceUrl(session.baseUrl), ca: caOf(process.env) }, session);
        say("signed out");
      } catch (error) {
        if (!(error instanceof CliError) || error.code !== "unreachable") throw error;
        say("signed out here; the appliance does not answer, and ends the session by itself");
      }
    });
}

function linesOf({ user, credential, roles, projects, acr }: CallerReply): string[] {
  return [
    `user      ${user.username} (${user.id})`,
    `by        ${credential === "key" ? "platform key" : acr === SECOND_FACTOR ? "sign-in with a second factor" : "sign-in"}`,
    ...(credential === "key"
      ? []
      : [`roles     ${roles.join(", ") || "none on the whole appliance"}`]),
    ...projects.map(({ id, name, role }) => `project   ${name} (${id}), ${role}`),
  ];
}
