/** `resontech login`, `whoami`, `logout`. */
import type { CallerReply } from "@resontech/contracts/http-identity";
import { resolve } from "node:path";
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { readAccountFile } from "../service-accounts/account-file.ts";
import { lifeLeft } from "../service-accounts/life-left.ts";
import { applianceUrl, caOf, settingsFrom } from "../settings.ts";
import { revoke, signIn } from "./device-grant.ts";
import { readSession, removeSession, sessionFile, writeSession } from "./kept-session.ts";
import { signInByKey } from "./service-account-grant.ts";

type Say = (text: string) => void;

const SECOND_FACTOR = "2";

/** @param say to the person, beside what a script reads */
export function addSignInCommands(program: Command, say: Say): void {
  program
    .command("login [url]")
    .description("sign in: confirm a code in a browser; the shell stays signed in for 8 hours")
    .addHelpText(
      "after",
      "\nWho has a second factor shows it each time. What needs a fresh sign-in is open for five minutes then.\n\nExamples:\n  resontech login https://appliance.example:8000\n  resontech login --service-account nightly.json",
    )
    .option("--service-account <file>", "sign a program in by the key that the file holds")
    .action(async (url: string | undefined, { serviceAccount }: { serviceAccount?: string }) => {
      const file = sessionFile(process.env);
      if (serviceAccount !== undefined) {
        await signProgramIn(resolve(serviceAccount), url, file, say);
        return;
      }
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
      const me = await getJson(settingsFrom(process.env), "/api/me");
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
      // Its token ends within five minutes, and nothing else was kept.
      if (session.serviceAccount !== undefined) return say("signed out");
      try {
        await revoke({ baseUrl: applianceUrl(session.baseUrl), ca: caOf(process.env) }, session);
        say("signed out");
      } catch (error) {
        if (!(error instanceof CliError) || error.code !== "unreachable") throw error;
        say("signed out here; the appliance does not answer, and ends the session by itself");
      }
    });
}

/** @param url of the appliance, where it is not that of the file */
async function signProgramIn(
  accountFile: string,
  url: string | undefined,
  sessionAt: string,
  say: Say,
): Promise<void> {
  const account = readAccountFile(accountFile);
  const appliance = { baseUrl: applianceUrl(url ?? account.baseUrl), ca: caOf(process.env) };
  writeSession(sessionAt, await signInByKey(appliance, account, accountFile));
  say(`signed in as the service account ${account.name}`);
  const { state, isEnding } = lifeLeft(account, Date.now());
  if (isEnding) say(`it ${state}: a project lead makes another one in time`);
}

const CREDENTIALS = {
  key: "platform key",
  session: "sign-in",
  "service-account": "service account",
} as const;

function linesOf({ user, credential, roles, projects, acr }: CallerReply): string[] {
  return [
    `user      ${user.username} (${user.id})`,
    `by        ${CREDENTIALS[credential]}${acr === SECOND_FACTOR ? " with a second factor" : ""}`,
    ...(credential === "session"
      ? [`roles     ${roles.join(", ") || "none on the whole appliance"}`]
      : []),
    ...projects.map(({ id, name, role }) => `project   ${name} (${id}), ${role}`),
  ];
}
