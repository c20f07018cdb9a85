/** `resontech personal-data`: what is held about a person. `resontech access`: who may do what. */
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { settingsFrom } from "../settings.ts";
import { ACCESS_HEAD, accessRows } from "./access-rows.ts";
import { getPersonalData } from "./get-personal-data.ts";

type Shell = { say: (text: string) => void; table: (head: string[], rows: string[][]) => void };

/** @param say to the person, beside what a script reads */
export function addPeopleCommands(program: Command, { say, table }: Shell): void {
  program
    .command("access")
    .description(
      "who may do what now, for a review: roles, projects, living keys, last sign-in, and what to look at. That you looked is on record",
    )
    .option("--json", "the appliance's answer as one JSON line", false)
    .addHelpText("after", "\nExample:\n  resontech access --json > access.json")
    .action(async ({ json }: { json: boolean }) => {
      const access = await getJson(settingsFrom(process.env), "/api/reviews/access");
      if (json) process.stdout.write(`${JSON.stringify(access)}\n`);
      else table(ACCESS_HEAD, accessRows(access));
    });

  program
    .command("personal-data")
    .description(
      "what the appliance holds about you, as JSON lines in a file; its first line says what is left out. That you asked is on record",
    )
    .requiredOption("--out <file>", "a new file, which you alone can read")
    .option("--user <id>", "about somebody else, by the pseudonym; security officers may ask")
    .option("--json", "one JSON line about the file", false)
    .addHelpText(
      "after",
      "\nExamples:\n  resontech personal-data --out mine.jsonl\n  resontech personal-data --user u_4f… --out anna.jsonl",
    )
    .action(async ({ out, user, json }: { out: string; user?: string; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const person = user ?? (await getJson(settings, "/api/me")).user.id;
      const { lines, entries, whose } = await getPersonalData(settings, person, out);
      if (json) {
        process.stdout.write(`${JSON.stringify({ file: out, lines, entries, whose })}\n`);
        return;
      }
      say(`${out}: ${lines} lines, ${entries} of them entries of the audit log`);
      if (whose === "own")
        say("what others did about you is not in it: a security officer can ask for that");
    });
}
