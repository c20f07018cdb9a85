/** `appliance key …`: platform keys of all users. A key's secret is never told again; renewing keeps it. */
import type { KeyFacts } from "@resontech/contracts/operator-keys";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { formatFromNow, formatInstant } from "../status/decisions/quantities.ts";

const RENEW_DAYS = 90;
const MAX_DAYS = 366;

export function addKeyCommands(program: Command, { ask, print, table, say }: OperatorShell): void {
  const key = program
    .command("key")
    .description("platform keys: list, renew, revoke")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance key ls --user alice\n  appliance key renew k_4f21 --days 90\n  appliance key revoke k_4f21",
    );

  leaves(key.command("ls"), { event: "admin.control", loggedBy: "coordinator" })
    .description("every key with its user, end and last use; that a person looked is on record")
    .option("--user <name>", "that user's keys alone")
    .option("--json", "one JSON line", false)
    .action(async ({ user, json }: { user?: string; json: boolean }) => {
      const { keys } = await ask("key-list", user === undefined ? {} : { username: user });
      if (json) print(keys);
      else table(KEY_HEAD, keyRows(keys), "no key");
    });

  leaves(key.command("renew <key>"), { event: "key.renew", loggedBy: "coordinator" })
    .description(
      "let the same key live so many days from now on; the beginning of its id will do, and no secret is made",
    )
    .option("--days <n>", `1 to ${MAX_DAYS}`, days, RENEW_DAYS)
    .option("--json", "one JSON line", false)
    .action(async (id: string, options: { days: number; json: boolean }) => {
      const renewed = await ask("key-renew", { key: id, days: options.days });
      if (options.json) print(printedAnswer("key-renew", renewed));
      else say(`${renewed.key} lives until ${formatInstant(renewed.expiresAt)} UTC`);
    });

  leaves(key.command("revoke <key>"), { event: "key.revoke", loggedBy: "coordinator" })
    .description("void a key at once and for good; the beginning of its id will do")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const revoked = await ask("key-revoke", { key: id });
      if (json) print(printedAnswer("key-revoke", revoked));
      else say(`${revoked.key} is revoked`);
    });
}

export const KEY_HEAD = ["KEY", "USER", "NAME", "HANDLE", "STATE", "ENDS", "LAST USE"];

export function keyRows(keys: readonly KeyFacts[], now: number = Date.now()): string[][] {
  return keys.map(({ key, username, name, handle, state, expiresAt, lastUsedAt }) => [
    ...[key, username, name, handle.replace("…", ".."), state],
    formatFromNow(expiresAt, now),
    lastUsedAt === null ? "never" : formatFromNow(lastUsedAt, now),
  ]);
}

function days(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_DAYS)
    throw new InvalidArgumentError(`days from 1 to ${MAX_DAYS} are meant`);
  return value;
}
