/** PostgreSQL's own base backup: one archive of the whole cluster with the write-ahead log that makes it whole. */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BackupError } from "@resontech/backup/backup-error";
import type { Part } from "@resontech/backup/parts";
import { readOnce } from "@resontech/backup/read-once";
import type Docker from "dockerode";

const MAX_SAID = 2_000;

/** Runs a shell script where PostgreSQL's programs are; what it prints goes to `into`. @throws BackupError `backup_source` */
export type PostgresShell = (script: string, into: NodeJS.WritableStream) => Promise<void>;

/**
 * @param port of 127.0.0.1
 * @param workDir where the archive lies until it is read; root's own
 */
export function postgresPart(
  { path, port, passwordFile }: { path: string; port: number; passwordFile: string },
  shell: PostgresShell,
  workDir: string,
): Part {
  const file = join(workDir, "postgres.tar");
  const script = [
    "set -eu",
    // Of the environment of this process alone: argv is for everybody to read.
    `PGPASSWORD=$(cat ${passwordFile}); export PGPASSWORD`,
    `exec /usr/lib/postgresql/15/bin/pg_basebackup -h 127.0.0.1 -p ${port} -U keycloak --no-password -D - -F tar -X fetch --checkpoint=fast`,
  ].join("\n");
  return {
    ...{ name: "postgres", kind: "folder", path },
    open: async () => {
      await rm(file, { force: true });
      const into = createWriteStream(file, { mode: 0o600, flags: "wx" });
      await shell(script, into);
      if (!into.closed) {
        into.end();
        await once(into, "close");
      }
      return { bytes: readOnce(file) };
    },
  };
}

/** Gives a shell in the container that runs PostgreSQL. */
export function shellInContainer(engine: Docker, name: string): PostgresShell {
  return async (script, into) => {
    let said = "";
    try {
      const exec = await engine.getContainer(name).exec({
        ...{ Cmd: ["/bin/sh", "-c", script], AttachStdout: true, AttachStderr: true },
      });
      const stream = await exec.start({ hijack: true, stdin: false });
      const [out, errors] = [new PassThrough(), new PassThrough()];
      errors
        .setEncoding("utf8")
        .on("data", (text: string) => (said = (said + text).slice(-MAX_SAID)));
      engine.modem.demuxStream(stream, out, errors);
      stream.on("end", () => out.end());
      stream.on("error", (error) => out.destroy(error));
      await pipeline(out, into);
      const { ExitCode } = await exec.inspect();
      if (ExitCode !== 0) throw new Error(`exit ${ExitCode ?? "?"}`);
    } catch (cause) {
      throw notCopied(`${cause instanceof Error ? cause.message : String(cause)} ${said.trim()}`);
    }
  };
}

export function notCopied(why: string): BackupError {
  return new BackupError("backup_source", `PostgreSQL can't be copied: ${why.trim()}`);
}
