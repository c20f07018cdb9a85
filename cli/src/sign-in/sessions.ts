/** `resontech sessions`: where one is signed in, and the end of it. */
import type { Command } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { type Settings, settingsFrom } from "../settings.ts";
import { asTable } from "../table.ts";

const HEAD = ["session", "in a", "since", "last seen"];

/** @param say to the person, beside what a script reads */
export function addSessionCommands(program: Command, say: (text: string) => void): void {
  const sessions = program.command("sessions").description("where you are signed in");

  sessions
    .command("ls")
    .description("your sessions, the newest first; that you looked is on record")
    .option("--user <id>", "of somebody else; administrators and security officers may look")
    .option("--json", "one JSON line for each session", false)
    .action(async ({ user, json }: { user?: string; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const params = { id: user ?? (await ownId(settings)) };
      const path = "/api/people/{id}/sessions";
      const { sessions: found, complete } = await getJson(settings, path, { params });
      if (json) for (const one of found) process.stdout.write(`${JSON.stringify(one)}\n`);
      else if (found.length > 0)
        process.stdout.write(
          asTable(
            HEAD,
            found.map(({ id, kind, startedAt, lastSeenAt, current }) => [
              ...[id, `${kind}${current ? " (this one)" : ""}`, startedAt, lastSeenAt],
            ]),
            process.stdout.isTTY ? process.stdout.columns : null,
          ),
        );
      if (found.length === 0) say("no session");
      if (!complete) say("Keycloak does not answer: shells are missing");
    });

  sessions
    .command("end <session>")
    .description("end one of your sessions, here and at Keycloak")
    .option("--user <id>", "of somebody else; administrators and security officers may do so")
    .addHelpText("after", "\nExample:\n  resontech sessions end KgJKKoxLjyUmNsBZ3PCQDQbF")
    .action(async (session: string, { user }: { user?: string }) => {
      const settings = settingsFrom(process.env);
      const params = { id: user ?? (await ownId(settings)), session };
      await sendJson(settings, "DELETE", "/api/people/{id}/sessions/{session}", { params });
      say(`ended ${session}`);
    });
}

async function ownId(settings: Settings): Promise<string> {
  return (await getJson(settings, "/api/me")).user.id;
}
