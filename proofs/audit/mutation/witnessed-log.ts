/** What somebody with the disk and the log's keys can make of a log that a witness has countersigned, and what an auditor sees of it. */
import { generateKeyPairSync, createHash, sign } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exportLog } from "@resontech/audit/export";
import { connectProducer } from "@resontech/audit/producer";
import { nodePlatform, type Report, verify } from "@resontech/audit/verifier/judge";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { initAuditd, logDirOf, makeAuditdConfig, startAuditd } from "../auditd-instance.ts";

const NAME = "witness.example/w1";
const SPKI_BYTES_BEFORE_KEY = 12;
const ED25519_COSIGNATURE = 0x04;

/** Verdicts on the honest log, and on one that goes its own way from a copy of the disk, keys included. */
export async function rebuiltWithoutWitness(root: string): Promise<{ honest: Report; rebuilt: Report }> {
  const home = join(root, "witnessed");
  mkdirSync(home);
  const config: AuditdConfig = { ...makeAuditdConfig(home), checkpointMs: 10 };
  config.producers.push({ name: "audit-out", family: "audit-out", socket: join(home, "run/out.sock"), gid: null });
  initAuditd(home, config);
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = Buffer.concat([
    Buffer.of(ED25519_COSIGNATURE),
    publicKey.export({ format: "der", type: "spki" }).subarray(SPKI_BYTES_BEFORE_KEY),
  ]);
  const keyId = createHash("sha256").update(`${NAME}\n`).update(key).digest().subarray(0, 4);
  const logLines = readFileSync(config.policyFile, "utf8")
    .match(/^log .*\n/gm)!
    .join("");
  const policy = Buffer.from(`${logLines}witness w1 ${NAME}+${keyId.toString("hex")}+${key.toString("base64")}\nquorum w1\n`);
  writeFileSync(config.policyFile, policy);

  let auditd = await startAuditd(home, config);
  await grow(config, 20);
  await stop(auditd);
  const copy = join(root, "rebuilt");
  cpSync(home, copy, { recursive: true });
  auditd = await startAuditd(home, config);
  const outward = await connectProducer({ socketPath: join(home, "run/out.sock"), boot: crypto.randomUUID() });
  await grow(config, 20);
  const note = readFileSync(join(logDirOf(config), "checkpoint"), "utf8");
  const body = note.slice(0, note.indexOf("\n\n") + 1);
  const [origin = "", size = ""] = body.split("\n");
  const timeS = Math.floor(Date.now() / 1_000);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(timeS));
  const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${timeS}\n${body}`), privateKey);
  const line = `— ${NAME} ${Buffer.concat([keyId, time, signature]).toString("base64")}\n`;
  const { accepted } = await outward.cosign(origin, Number(size), line);
  if (accepted !== 1) throw new Error("auditd took no cosignature");
  await outward.close();
  const honest = await judged(config, policy);
  await stop(auditd);

  // Whoever rebuilds it has all that the appliance has; the witness countersigns no second history.
  const text = JSON.stringify(config).replaceAll(`${home}/`, `${copy}/`);
  const forked = JSON.parse(text) as AuditdConfig;
  auditd = await startAuditd(copy, forked);
  await grow(forked, 30);
  const rebuilt = await judged(forked, policy);
  await stop(auditd);
  return { honest, rebuilt };
}

async function judged(config: AuditdConfig, policy: Uint8Array): Promise<Report> {
  const file = `${config.auditDir}.tar`;
  await exportLog({ logDir: logDirOf(config), file, witnessedFor: 0 });
  return await verify({ bundle: createReadStream(file), policy, platform: nodePlatform });
}

async function grow(config: AuditdConfig, count: number): Promise<void> {
  const producer = await connectProducer({ socketPath: config.producers[0]!.socket, boot: crypto.randomUUID() });
  const refs = await Promise.all(
    Array.from({ length: count }, () =>
      producer.fact({
        type: "key.list",
        op: crypto.randomUUID(),
        actor: { sub: "usr-1", kind: "user" },
        object: { kind: "user", id: "usr-1" },
      }),
    ),
  );
  await producer.covered(refs.at(-1)!.index);
  await producer.close();
}

async function stop(auditd: ChildProcess): Promise<void> {
  auditd.kill("SIGTERM");
  await once(auditd, "exit");
}
