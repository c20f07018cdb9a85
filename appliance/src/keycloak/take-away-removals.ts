/**
 * Before an older release comes back with Keycloak's database as it was: takes from that copy what people lost since. PostgreSQL of the release that runs does
 * both, so that the older one needs no part in it, and no sign-in is open on the copy before.
 */
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import Docker from "dockerode";
import { type PostgresShell, shellInContainer } from "../backup/postgres-archive.ts";
import { containerName } from "../parts/container-runner.ts";
import { type PartContext, userOfPart } from "../parts/context.ts";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { KEPT_INSIDE } from "@resontech/postgres/part";
import { KEPT_QUERY, removalsStatement } from "./decisions/removals-statement.ts";
import { keptDatabase, readKeptRelease } from "./kept-database.ts";

const PROGRAMS = "/usr/lib/postgresql/15/bin";
/** Without a server: nobody else can reach the copy. */
const CARRY_OUT = `exec ${PROGRAMS}/postgres --single -D ${KEPT_INSIDE}/cluster -c exit_on_error=on -c shared_buffers=16MB postgres <${KEPT_INSIDE}/removals.sql >/dev/null`;
/** A start of the appliance may be under way. */
const WAIT_MS = 120_000;
const LOOK_MS = 1_000;
/** Of a hundred thousand people. */
const MAX_KEPT_CHARACTERS = 256 * 1024 ** 2;

/** Nothing was taken from the copy, so it must not come back. */
export class RemovalsFailedError extends Error {
  readonly code = "removals_failed";
  readonly hint =
    "see that PostgreSQL is healthy: `appliance status`; then give the same command again";
}

/** @throws RemovalsFailedError */
export async function takeAwayRemovals(context: PartContext): Promise<void> {
  const { config, layout } = context;
  if (readKeptRelease(layout.root) === null)
    throw new RemovalsFailedError("no database of an earlier release is kept here");
  const { containerEngine, ports } = config;
  const socketPath =
    containerEngine.kind === "podman" ? layout.podmanSocket : containerEngine.socket;
  const shell = shellInContainer(new Docker({ socketPath }), containerName(layout, "postgres"));
  const uid = userOfPart(context, "postgres");
  try {
    const kept = await answered(shell, ports.postgres);
    const file = keptDatabase(layout.root, "removals.sql");
    writeOwned(file, removalsStatement(kept), { uid, gid: uid }, 0o400);
    await run(shell, CARRY_OUT);
    // Last: without it nothing was taken away.
    writeOwned(keptDatabase(layout.root, "removed"), "", ROOT, 0o444);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new RemovalsFailedError(
      `what people lost since the upgrade can't be taken from the earlier database: ${why}`,
      { cause },
    );
  }
}

async function answered(shell: PostgresShell, port: number): Promise<string> {
  const script = [
    "set -eu",
    // Of the environment of this process alone: argv is for everybody to read.
    "PGPASSWORD=$(cat /secrets/password); export PGPASSWORD",
    `exec ${PROGRAMS}/psql -h 127.0.0.1 -p ${port} -U keycloak --no-password -X -q -t -A -v ON_ERROR_STOP=1 -d postgres <<'SQL'`,
    `${KEPT_QUERY};`,
    "SQL",
  ].join("\n");
  for (const end = Date.now() + WAIT_MS; ; await sleep(LOOK_MS))
    try {
      return await run(shell, script);
    } catch (error) {
      if (Date.now() > end) throw error;
    }
}

async function run(shell: PostgresShell, script: string): Promise<string> {
  const into = new PassThrough();
  let text = "";
  into.setEncoding("utf8").on("data", (chunk: string) => {
    if (text.length < MAX_KEPT_CHARACTERS) text += chunk;
  });
  await shell(script, into);
  return text.trim();
}
