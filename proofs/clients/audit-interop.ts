/**
 * Go's own transparency-log packages (golang.org/x/mod/sumdb), which know nothing of ours, verify our log: the checkpoint's signature, the
 * root from every entry, and every hash tile byte for byte. Needs Go and its module proxy or cache.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connectProducer } from "@resontech/audit/producer";
import {
  logDirOf,
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "../audit/instances/auditd-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const SIZES = [1, 200, 256, 1_000, 70_000];

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  try {
    const program = join(root, "audit-interop");
    const built = spawnSync("go", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "audit-interop/go"),
      encoding: "utf8",
    });
    if (built.status !== 0) throw new Error(`go build: ${built.stderr}`);
    const config = makeAuditdConfig(root);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    const [, verifierKey = ""] = readFileSync(config.policyFile, "utf8").split("\n")[0]!.split(" ");
    const verified: string[] = [];
    for (const size of SIZES) {
      let index = 0;
      for (let missing = size - (await producer.status()).size; missing > 0; missing -= 1_000) {
        const batch = Array.from({ length: Math.min(missing, 1_000) }, () =>
          producer.fact({
            type: "key.list",
            op: crypto.randomUUID(),
            actor: { sub: "usr-1", kind: "user" },
            object: { kind: "user", id: "usr-1" },
          }),
        );
        index = (await Promise.all(batch)).at(-1)!.index;
      }
      await producer.covered(index);
      const { status, stdout, stderr } = spawnSync(program, [logDirOf(config), verifierKey], {
        encoding: "utf8",
      });
      progress(`${stdout.trim()}${stderr.trim()}`);
      if (status !== 0) return { ok: false, figures: { verified, failure: stderr.trim() } };
      verified.push(stdout.trim());
    }
    await producer.close();
    return { ok: true, figures: { verified, by: "golang.org/x/mod/sumdb note and tlog" } };
  } finally {
    if (auditd !== null && auditd.exitCode === null) {
      auditd.kill("SIGTERM");
      await once(auditd, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  }
}
