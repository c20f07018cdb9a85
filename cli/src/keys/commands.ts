/** `resontech keys`: list and revoke the own platform keys; minting is the browser's. */
import type { KeyReply } from "@resontech/contracts/http-identity";
import type { Command } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { settingsFrom } from "../settings.ts";
import { asTable } from "../table.ts";

const KEYS_PAGE = "/dashboard/keys";
const HEAD = ["id", "name", "key", "project", "may", "state", "good until", "last used"];

/** @param say to the person, beside what a script reads */
export function addKeyCommands(program: Command, say: (text: string) => void): void {
  const keys = program.command("keys").description("the own platform keys");

  keys
    .command("ls")
    .description("the own platform keys; the key itself is shown nowhere")
    .option("--all", "revoked and expired ones as well", false)
    .option("--json", "one JSON line for each key", false)
    .action(async ({ all, json }: { all: boolean; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const found = (await getJson(settings, "/api/keys")).filter(
        (key) => all || stateOf(key, Date.now()) === "living",
      );
      if (json) for (const key of found) process.stdout.write(`${JSON.stringify(key)}\n`);
      else if (found.length > 0)
        process.stdout.write(
          asTable(HEAD, found.map(rowOf), process.stdout.isTTY ? process.stdout.columns : null),
        );
      if (found.length === 0) say("no key; `resontech keys mint` says where one is minted");
    });

  keys
    .command("revoke <id>")
    .description("revoke one of the own keys; it is refused at once, and for good")
    .addHelpText("after", "\nExample:\n  resontech keys revoke k_1c27…")
    .action(async (id: string) => {
      await sendJson(settingsFrom(process.env), "DELETE", "/api/keys/{id}", { params: { id } });
      say(`revoked ${id}`);
    });

  keys
    .command("mint")
    .description("where a key is minted: a browser, whose person shows a second factor")
    .action(() => {
      say("Keys are minted in a browser. Open");
      process.stdout.write(`${new URL(KEYS_PAGE, settingsFrom(process.env).baseUrl).href}\n`);
    });
}

function rowOf(key: KeyReply): string[] {
  return [
    key.id,
    `${key.name}${key.current ? " (this one)" : ""}`,
    `${key.prefix}…${key.last4}`,
    key.projectId,
    key.scopes.join(" "),
    stateOf(key, Date.now()),
    key.expiresAt,
    key.lastUsedAt ?? "never",
  ];
}

/** @param now Unix milliseconds */
function stateOf(
  { revokedAt, expiresAt }: KeyReply,
  now: number,
): "living" | "revoked" | "expired" {
  if (revokedAt !== null) return "revoked";
  return Date.parse(expiresAt) > now ? "living" : "expired";
}
