import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { exportLog } from "@resontech/audit/export";
import { connectProducer } from "@resontech/audit/producer";
import { shippedProgram } from "@resontech/house/shipped-program";
import { type AuditdFixture, startedAuditd } from "@resontech/auditd/testing/auditd-fixture";
import { jobSubmit } from "@resontech/audit/testing/event-drafts";
import { hostNode } from "./helper/host-node.ts";

const HOST_NODE = hostNode();

async function exportedLog(
  t: Test,
  events: number,
): Promise<{ auditd: AuditdFixture; file: string; policySha256: string }> {
  const auditd = await startedAuditd(t);
  const { policySha256 } = auditd.init();
  await using producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  const acks = await Promise.all(
    Array.from({ length: events }, () => producer.requested(jobSubmit())),
  );
  await producer.covered(acks.at(-1)!.index);
  await producer.close();
  await auditd.stop();
  const file = join(auditd.root, "export.tar");
  await exportLog({ logDir: auditd.logDir, file });
  return { auditd, file, policySha256 };
}

t.test("a sound export passes, and any flipped bit does not", async (t) => {
  const verifier = shippedProgram("sov-verify");
  const { auditd, file, policySha256 } = await exportedLog(t, 700);
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [verifier, ...args], {
      encoding: "utf8",
    });
    return { status, stdout, stderr };
  };
  const sound = run(file, "--policy", auditd.config.policyFile, "--json");
  t.equal(sound.status, 0, sound.stderr);
  t.match(JSON.parse(sound.stdout), {
    verdicts: {
      SIGNATURE: { verdict: "PASS" },
      INTEGRITY: { verdict: "PASS" },
      "APPEND-ONLY": { verdict: "NOT CHECKED" },
      WITNESSED: { verdict: "NOT CHECKED" },
      COMPLETENESS: { verdict: "PASS" },
      DISCLOSURES: { verdict: "NOT CHECKED" },
    },
    refused: null,
    policySha256,
    checkpoint: { size: auditd.checkpointSize() },
  });
  t.equal(run(file).status, 65, "without a policy it is self-asserted");
  t.equal(
    run(file, "--policy", auditd.config.policyFile, "--require", "integrity,witnessed").status,
    65,
  );
  t.equal(
    run(file, "--policy", auditd.config.policyFile, "--require", "signature,integrity").status,
    0,
  );
  const stale = run(
    file,
    "--policy",
    auditd.config.policyFile,
    "--nonce",
    "00".repeat(32),
    "--json",
  );
  t.same(
    [stale.status, JSON.parse(stale.stdout).exitCode],
    [65, 65],
    "a nonce that the log does not carry, in the report as well",
  );
  t.equal(run(join(auditd.root, "nothing")).status, 64);
  t.match(run("--help").stdout, /What this does not prove/);

  const content = readFileSync(file);
  await exportLog({ logDir: auditd.logDir, file: join(auditd.root, "again.tar") });
  t.ok(
    readFileSync(join(auditd.root, "again.tar")).equals(content),
    "the same checkpoint gives the same bytes",
  );
  const damaged = join(auditd.root, "damaged.tar");
  for (const { name, at, index } of everyKindOfByte(content)) {
    const copy = Buffer.from(content);
    copy[at]! ^= 0x01;
    writeFileSync(damaged, copy);
    const { status, stdout } = run(damaged, "--policy", auditd.config.policyFile, "--json");
    t.not(status, 0, `${name}: flipped byte ${at} fails`);
    const report = JSON.parse(stdout);
    if (index !== null) t.equal(report.verdicts.INTEGRITY.index, index, `${name}: names the entry`);
  }
  writeFileSync(damaged, content.subarray(0, content.length - 2048));
  t.equal(
    run(damaged, "--policy", auditd.config.policyFile).status,
    64,
    "a truncated export is refused",
  );
  writeFileSync(damaged, Buffer.concat([content, Buffer.alloc(512)]));
  t.equal(
    run(damaged, "--policy", auditd.config.policyFile).status,
    64,
    "a longer export is refused",
  );
});

t.test("the host's Node judges the same", async (t) => {
  const verifier = shippedProgram("sov-verify");
  const { auditd, file } = await exportedLog(t, 20);
  const args = [verifier, file, "--policy", auditd.config.policyFile, "--json"];
  const { verdicts } = JSON.parse(spawnSync(HOST_NODE, args, { encoding: "utf8" }).stdout);
  t.match(verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
});

/** One byte of the header, the content and the padding of each member, and what the verifier must name. */
function everyKindOfByte(archive: Buffer): { name: string; at: number; index: number | null }[] {
  const bytes: { name: string; at: number; index: number | null }[] = [];
  for (let at = 0; archive[at] !== 0; ) {
    const name = archive.toString("latin1", at, archive.indexOf(0, at));
    const size = Number.parseInt(archive.toString("latin1", at + 124, at + 135), 8);
    const content = at + 512;
    bytes.push({ name: `${name} header`, at: at + 150, index: null });
    bytes.push({ name, at: content + 20, index: indexConcerned(name, 20) });
    bytes.push({ name, at: content + size - 1, index: indexConcerned(name, size - 1) });
    if (size % 512 !== 0) bytes.push({ name: `${name} padding`, at: content + size, index: null });
    at = content + Math.ceil(size / 512) * 512;
  }
  return bytes;
}

function indexConcerned(name: string, offset: number): number | null {
  const match = /^tile\/(0|1|entries)\/(\d{3})/.exec(name);
  if (match === null) return null;
  const [, level, tile] = match;
  if (level === "entries") return offset < 100 ? Number(tile) * 256 : null;
  return (Number(tile) * 256 + Math.floor(offset / 32)) * (level === "1" ? 256 : 1);
}
