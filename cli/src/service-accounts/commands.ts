/** `resontech service-accounts`: programs of a project that sign in by a key of their own. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  type PublicKey,
  SERVICE_ACCOUNT_DAYS,
  SERVICE_ACCOUNT_SCOPES,
  type ServiceAccountReply,
  type ServiceAccountScope,
} from "@resontech/contracts/http-service-accounts";
import { type Command, Option } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import { type Settings, settingsFrom } from "../settings.ts";
import { asTable } from "../table.ts";
import { writeAccountFile } from "./account-file.ts";
import { lifeLeft } from "./life-left.ts";

type AccountOptions = { name: string; scope: ServiceAccountScope[] };
type Say = (text: string) => void;

const ACCOUNTS = "/api/projects/{id}/service-accounts";
const ACCOUNT = `${ACCOUNTS}/{account}` as const;
const HEAD = ["id", "name", "may", "state", "good until", "last used", "made by"];

/** @param say to the person, beside what a script reads */
export function addServiceAccountCommands(program: Command, say: Say): void {
  const accounts = program
    .command("service-accounts")
    .description("programs of a project, which sign in by a key of their own");

  accounts
    .command("create <project>")
    .description(`make one, good for ${SERVICE_ACCOUNT_DAYS} days; needs a fresh sign-in`)
    .requiredOption("--name <name>", "what lists call it")
    .addOption(
      new Option("--scope <scope...>", "what it may do")
        .choices(SERVICE_ACCOUNT_SCOPES)
        .default([...SERVICE_ACCOUNT_SCOPES]),
    )
    .addOption(
      new Option("--out <file>", "make a key pair, and keep the private key in this new file"),
    )
    .addOption(
      new Option(
        "--public-key <file>",
        "take this public key, a JWK: the program signs its assertions itself",
      ).conflicts("out"),
    )
    .addHelpText(
      "after",
      "\nExamples:\n  resontech service-accounts create p_1c27… --name nightly --out nightly.json\n  resontech login --service-account nightly.json",
    )
    .action(
      async (
        project: string,
        { out, publicKey, ...wish }: AccountOptions & { out?: string; publicKey?: string },
      ) => {
        const settings = settingsFrom(process.env);
        if (publicKey !== undefined) {
          const made = await create(settings, project, wish, readJwk(publicKey));
          process.stdout.write(`${JSON.stringify(made)}\n`);
          say(`made ${made.id}, good until ${made.expiresAt}; its client is ${made.clientId}`);
        } else if (out !== undefined) {
          const { id, expiresAt } = await createWithPair(settings, project, wish, out);
          say(`made ${id}, good until ${expiresAt}; ${out} holds its private key`);
        } else
          throw new CliError(
            "key_missing",
            "nobody says where the key comes from",
            "Name a new file with --out, or a public key with --public-key.",
          );
      },
    );

  accounts
    .command("ls <project>")
    .description("those of a project; that you looked is on record")
    .option("--all", "revoked and expired ones as well", false)
    .option("--json", "one JSON line for each", false)
    .action(async (project: string, { all, json }: { all: boolean; json: boolean }) => {
      const now = Date.now();
      const found = (
        await getJson(settingsFrom(process.env), ACCOUNTS, { params: { id: project } })
      ).filter((one) => all || !["revoked", "expired"].includes(lifeLeft(one, now).state));
      if (json) for (const one of found) process.stdout.write(`${JSON.stringify(one)}\n`);
      else if (found.length > 0)
        process.stdout.write(
          asTable(
            HEAD,
            found.map((one) => rowOf(one, now)),
            process.stdout.isTTY ? process.stdout.columns : null,
          ),
        );
      if (found.length === 0) say("the project has no service account");
      for (const one of found)
        if (one.adoptBy !== null && one.adoptBy !== undefined)
          say(
            `nobody answers for ${one.name}; it ends at ${one.adoptBy}: resontech service-accounts adopt ${project} ${one.id}`,
          );
      for (const one of found)
        if (lifeLeft(one, now).isEnding)
          say(
            `${one.name} ${lifeLeft(one, now).state}: make another one, and give it to the program`,
          );
    });

  accounts
    .command("adopt <project> <account>")
    .description(
      "answer for one in place of who made it; one that nobody answers for ends in seven days; needs a fresh sign-in",
    )
    .addHelpText("after", "\nExample:\n  resontech service-accounts adopt p_1c27… sa_7f3a…")
    .action(async (project: string, account: string) => {
      const params = { id: project, account };
      await sendJson(settingsFrom(process.env), "POST", `${ACCOUNT}/adopt`, { params });
      say(`you answer for ${account}`);
    });

  accounts
    .command("revoke <project> <account>")
    .description("refuse one at once, and for good")
    .addHelpText("after", "\nExample:\n  resontech service-accounts revoke p_1c27… sa_7f3a…")
    .action(async (project: string, account: string) => {
      const params = { id: project, account };
      await sendJson(settingsFrom(process.env), "DELETE", ACCOUNT, { params });
      say(`revoked ${account}`);
    });
}

async function createWithPair(
  settings: Settings,
  project: string,
  wish: AccountOptions,
  out: string,
) {
  return await writeAccountFile(out, async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const made = await create(
      settings,
      project,
      wish,
      publicKey.export({ format: "jwk" }) as PublicKey,
    );
    return {
      ...{ version: 1, baseUrl: settings.baseUrl.href, id: made.id, clientId: made.clientId },
      ...{ name: made.name, projectId: made.projectId, expiresAt: made.expiresAt },
      privateKey: privateKey.export({ type: "pkcs8", format: "pem" }),
    };
  });
}

async function create(
  settings: Settings,
  project: string,
  { name, scope }: AccountOptions,
  publicKey: PublicKey,
): Promise<ServiceAccountReply> {
  const body = { name, scopes: scope, publicKey };
  return await sendJson(settings, "POST", ACCOUNTS, { params: { id: project }, body });
}

/** Which public keys are good the appliance says. @throws CliError key_invalid, also for a private key: it is not to be sent anywhere */
function readJwk(file: string): PublicKey {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new CliError("key_invalid", `${file} is no JWK`, "Name a file with one public key.");
  }
  if (typeof value !== "object" || value === null || "d" in value || !("kty" in value))
    throw new CliError(
      "key_invalid",
      `${file} is no public key`,
      "Send the public half alone; the private one stays with the program.",
    );
  return value as PublicKey;
}

function rowOf(account: ServiceAccountReply, now: number): string[] {
  const { id, name, scopes, expiresAt, lastUsedAt, createdBy } = account;
  return [
    ...[id, name, scopes.join(" "), lifeLeft(account, now).state],
    ...[expiresAt, lastUsedAt ?? "never", createdBy.username],
  ];
}
