/**
 * Our witness serves a log that knows nothing of ours: Tessera's own witness client, with a policy of that one witness, publishes a checkpoint only
 * with a cosignature. Go's note packages then open each published one with the log's key and the witness's. Needs Go and its module proxy or cache.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryRoot } from "../audit/instances/auditd-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const WITNESS = fileURLToPath(import.meta.resolve("@resontech/witness/main"));
const ROUNDS = 40;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const root = temporaryRoot();
  let serving: ChildProcess | null = null;
  try {
    const program = join(root, "witness-go");
    const cwd = join(import.meta.dirname, "audit-witness-interop/go");
    const built = spawnSync("go", ["build", "-o", program, "."], { cwd, encoding: "utf8" });
    if (built.status !== 0) throw new Error(`go build: ${built.stderr}`);
    const [logKey = "", logVkey = ""] = succeeded(program, []).split("\n");
    const dir = join(root, "witness");
    const lines = succeeded(process.execPath, [
      WITNESS,
      "init",
      "--dir",
      dir,
      "--name",
      "witness.example/w1",
    ]);
    const first = join(root, "first.policy");
    writeFileSync(first, `log ${logVkey}\nquorum none\n`);
    succeeded(process.execPath, [WITNESS, "admit", "--dir", dir, "--first", first]);

    serving = spawn(process.execPath, [WITNESS, "serve", "--dir", dir, "--listen", "127.0.0.1:0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const statuses: Record<string, number> = {};
    const port = Promise.withResolvers<number>();
    createInterface({ input: serving.stdout! }).on("line", (line) => {
      const { listening, status } = JSON.parse(line) as {
        listening?: { port: number };
        status?: number;
      };
      if (listening !== undefined) port.resolve(listening.port);
      if (status !== undefined) statuses[status] = (statuses[status] ?? 0) + 1;
    });
    serving.once("exit", (code) => port.reject(new Error(`the witness ended with ${code}`)));

    // Tessera 1.0.4 reads Ed25519 cosignatures alone.
    const witnessLine = /^witness w1 .*$/m.exec(lines)?.[0];
    const policy = join(root, "policy");
    writeFileSync(
      policy,
      `log ${logVkey}\n${witnessLine} http://127.0.0.1:${await port.promise}/\nquorum w1\n`,
    );
    const runs: { cosigned: number; size: string }[] = [];
    // The second run takes the log up again: its client has to learn the witness's size.
    for (let run = 0; run < 2; run++) {
      const { stdout } = await promisify(execFile)(
        program,
        [join(root, "log"), policy, String(ROUNDS)],
        {
          env: { ...process.env, LOG_KEY: logKey },
          timeout: 240_000,
        },
      );
      progress(stdout.trim());
      runs.push(JSON.parse(stdout));
    }
    const shown = JSON.parse(succeeded(process.execPath, [WITNESS, "show", "--dir", dir])) as {
      logs: { size: number }[];
    };
    const cosigned = runs.reduce((sum, run) => sum + run.cosigned, 0);
    const witnessSize = shown.logs[0]?.size;
    const ok =
      cosigned > ROUNDS &&
      (statuses[200] ?? 0) >= cosigned &&
      witnessSize === Number(runs.at(-1)?.size);
    return {
      ok,
      figures: {
        cosigned,
        statuses,
        treeSize: witnessSize,
        by: "tessera 1.0.4, NewWitnessGroupFromPolicy",
      },
    };
  } finally {
    if (serving !== null && serving.exitCode === null) {
      serving.kill("SIGTERM");
      await once(serving, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  }
}

/** @throws when the program fails */
function succeeded(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
  return stdout;
}
