/**
 * Every secret that the appliance holds and root may read, so that none is in what it gives away. They are looked for, never told.
 *
 * Keys that parts keep to themselves are not read even for that: no process but theirs ever sees them.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readAuditKeys } from "../config/audit-keys.ts";
import { readForeign } from "../config/owned-file.ts";
import {
  closedSecretsFolders,
  dataFoldersOf,
  type PartDeclaration,
} from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";

/** Certificates and configurations lie beside the secrets. */
const PUBLIC = /\.(?:crt|pem|cfg|conf|yml|yaml)$/;
const MAX_BYTES = 65_536;
/** Of `data/credentials.txt`: `name = value`. */
const CREDENTIAL = /^(?:platform_api_key|first_password|access_key_id|secret_access_key) = (.+)$/gm;

/** A secret can't be read, so nobody can say whether a log has it. */
export class SecretsUnreadableError extends Error {
  readonly code = "secrets_unreadable";
  readonly hint = "look at the file that is named; without it a bundle could hold that secret";
}

/** @throws SecretsUnreadableError */
export function knownSecrets({ layout, parts }: Pick<PartContext, "layout" | "parts">): string[] {
  const unread = new Set(closedSecretsFolders(parts));
  const folders = processesOf(layout, unread).map((process) => layout.secrets(process));
  const files = [
    ...folders.flatMap((folder) => filesOf(folder).filter((file) => !PUBLIC.test(file))),
    ...[layout.caDir, layout.doorCertificate()].flatMap((folder) =>
      filesOf(folder).filter((file) => file.endsWith(".key")),
    ),
    ...parts.flatMap((part) => hiddenData(layout, part)),
    ...pinsOf(layout),
  ];
  const credentials = layout.data("credentials.txt");
  return [
    ...files.flatMap((file) => valuesOf(read(file))),
    ...(existsSync(credentials)
      ? [...read(credentials).matchAll(CREDENTIAL)].map(([, value]) => value!)
      : []),
  ];
}

function processesOf(layout: Layout, unread: ReadonlySet<string>): string[] {
  const folder = layout.secrets("");
  return existsSync(folder) ? readdirSync(folder).filter((name) => !unread.has(name)) : [];
}

function hiddenData(layout: Layout, part: PartDeclaration): string[] {
  const hides = part.data?.hides;
  if (hides === undefined) return [];
  return dataFoldersOf(part)
    .flatMap(({ name }) => filesOf(layout.data(name)))
    .filter((file) => hides.test(file));
}

function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

function pinsOf(layout: Layout): string[] {
  const { token, vaultToken } = readAuditKeys(layout) ?? {};
  return [token, vaultToken].flatMap((one) =>
    one !== undefined && existsSync(one.pinFile) ? [one.pinFile] : [],
  );
}

function read(file: string): string {
  try {
    return readForeign(file, MAX_BYTES).toString();
  } catch (error) {
    throw new SecretsUnreadableError(`${file} can't be read`, { cause: error });
  }
}

/** A file of JSON has several. */
function valuesOf(text: string): string[] {
  if (!text.startsWith("{")) return [text];
  try {
    return [text, ...leavesOf(JSON.parse(text))];
  } catch {
    return [text];
  }
}

function leavesOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}
