/** A real PostgreSQL of the test's own, by Debian's programs. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);
const PROGRAMS = "/usr/lib/postgresql/15/bin";
export const hasPostgres = existsSync(join(PROGRAMS, "pg_basebackup"));

export class RunningPostgres implements AsyncDisposable {
  readonly port: number;
  readonly #password: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(port: number, password: string, child: ChildProcess) {
    this.port = port;
    this.#password = password;
    this.#child = child;
    this.#exited = once(child, "exit");
  }

  /** Makes a cluster as the appliance does. @param uid who runs it */
  static async make(cluster: string, uid: number, passwordFile: string): Promise<void> {
    for (const folder of [dirname(cluster), cluster]) {
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, uid, uid);
    }
    await run(
      join(PROGRAMS, "initdb"),
      [
        ...["-D", cluster, "-U", "keycloak", `--pwfile=${passwordFile}`],
        ...["--auth=scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8"],
      ],
      { uid, gid: uid, cwd: "/" },
    );
  }

  static async start(
    cluster: string,
    { uid, port, password }: { uid: number; port: number; password: string },
  ): Promise<RunningPostgres> {
    const child = spawn(
      join(PROGRAMS, "postgres"),
      [
        ...["-D", cluster, "-c", "listen_addresses=127.0.0.1", "-c", `port=${port}`],
        ...["-c", "unix_socket_directories="],
      ],
      { uid, gid: uid, cwd: "/", stdio: ["ignore", "ignore", "pipe"] },
    );
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const postgres = new RunningPostgres(port, password, child);
    for (;;) {
      const answer = await postgres.ask("SELECT 1").catch(() => null);
      if (answer === "1") return postgres;
      if (child.exitCode !== null) throw new Error(`postgres does not start:\n${said}`);
      await sleep(100);
    }
  }

  /** The first column of the first row. */
  async ask(sql: string): Promise<string> {
    const { stdout } = await run(
      "psql",
      ["-h", "127.0.0.1", "-p", String(this.port), "-U", "keycloak", "-tAc", sql, "postgres"],
      { env: { ...process.env, PGPASSWORD: this.#password } },
    );
    return stdout.trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGINT");
    await this.#exited;
  }
}

/** Where a shell of the appliance finds the password of {@link RunningPostgres}. */
export function writePassword(file: string, password: string, uid: number): void {
  writeFileSync(file, password, { mode: 0o400 });
  chownSync(file, uid, uid);
}
