/** What a backup of an appliance holds, and what none may hold. docs/operator/backup.md has the same list for people. */
import { join } from "node:path";
import { existsSync } from "node:fs";
import { databasePart } from "@resontech/backup/database-part";
import { folderPart } from "@resontech/backup/folder-part";
import type { Part } from "@resontech/backup/parts";
import { closedSecretsFolders, type PartDeclaration } from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { logParts } from "./log-parts.ts";
import { postgresPart, type PostgresShell } from "./postgres-archive.ts";

/** Below the root. */
export const OBJECTS_PATH = "data/s3";
/** In a backup with the configuration: who has a key pair. */
const IAM_FOLDER = "iam";

/** Files that an install leaves for people. */
const OF_THE_OPERATOR = new Set(["credentials.txt", "audit.policy"]);

export type BackupSources = {
  layout: Layout;
  declared: readonly PartDeclaration[];
  /** Of PostgreSQL, on loopback. */
  postgresPort: number;
  /** Where its password lies for {@link postgres}. */
  passwordFile: string;
  postgres: PostgresShell;
  /** Root's own. */
  workDir: string;
};

/**
 * In the order in which they are read. The coordinator's database before the objects that it names: what is new since then harms nobody. The log last:
 * it holds whatever the other parts have said to it.
 */
export async function backupParts({
  layout,
  declared,
  postgresPort,
  passwordFile,
  postgres,
  workDir,
}: BackupSources): Promise<Part[]> {
  const database = (name: string, ...path: string[]): Part =>
    databasePart({ name, path: below(path), file: join(layout.data(), ...path) }, workDir);
  const folder = (
    name: string,
    path: readonly string[],
    skips?: (path: string) => boolean,
  ): Part[] =>
    existsSync(join(layout.data(), ...path))
      ? [folderPart({ name, path: below(path), folder: join(layout.data(), ...path) }, skips)]
      : [];
  // Keys of the log sign for this host alone, and a copy of the vault's would outlive an erasure.
  const never = new Set(closedSecretsFolders(declared).map((name) => `secrets/${name}`));
  const parts = [
    folderPart({ name: "configuration", path: "etc", folder: layout.etc }, (path) =>
      never.has(path),
    ),
    database("coordinator", "coordinator", "coordinator.db"),
    // Beside the database: policies in force. Not the copies that migrations made.
    ...folder("coordinator-files", ["coordinator"], (path) => path.startsWith("coordinator.db")),
    postgresPart(
      { path: below(["postgres", "cluster"]), port: postgresPort, passwordFile },
      postgres,
      workDir,
    ),
    folderPart(
      { name: "files", path: "data", folder: layout.data() },
      (path) => !OF_THE_OPERATOR.has(path),
    ),
    ...folder("s3-accounts", ["s3", IAM_FOLDER]),
    ...declared
      .filter(({ data }) => data?.isBackedUp === true)
      .flatMap(({ name }) => folder(name, [name])),
  ];
  if (existsSync(layout.data("vault", "sealed.sqlite")))
    parts.push(
      database("vault", "vault", "sealed.sqlite"),
      ...folder("vault-key-copies", ["vault-key-copies"]),
    );
  return [...parts, ...(await logParts(layout.data("audit"), below(["audit"]), workDir))];
}

/** Of the object store's folder, what is in the index of objects. */
export const OBJECT_FOLDERS = ["objects", "versions"] as const;

function below(path: readonly string[]): string {
  return ["data", ...path].join("/");
}
