import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { connectProducer } from "@resontech/audit/producer";
import { PARTS } from "@resontech/parts";
import t, { type Test } from "tap";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { disclosing, erase } from "@resontech/vault/testing/privacy-requests";
import { say } from "@resontech/vault/testing/say";
import { VaultFixture } from "@resontech/vault/testing/vault-fixture";
import { CallJournal } from "@resontech/inference-gateway/call-journal";
import { CallRecorder } from "@resontech/inference-gateway/call-recorder";
import { EndNotes } from "@resontech/inference-gateway/end-notes";
import {
  exportAudit,
  exportEvidence,
  exportModelCalls,
  proveEntry,
} from "../../src/commands/audit-export.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const POLICIES = join(import.meta.dirname, "../../../policies");
const VERIFIER = shippedProgram("sov-verify");

/** auditd as the appliance lays it out, and the part of a context that an export asks. */
async function started(
  t: Test,
  instance: string,
  clock?: { inception: string; ms: number },
): Promise<[AuditdFixture, PartContext, Layout]> {
  const root = temporaryFolder(t);
  const layout = new Layout(root, instance);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const names = ["coordinator-gate", "appliance", "vault", "serving"];
  const producers = names.map((name) => ({
    name,
    family: name,
    socket: layout.run("audit", name, "sock"),
    gid: null,
  }));
  for (const { socket } of producers) {
    mkdirSync(dirname(socket), { recursive: true });
    chmodSync(dirname(socket), 0o750);
  }
  for (const folder of [layout.data(), layout.etc]) mkdirSync(folder, { recursive: true });
  const auditd = new AuditdFixture(join(root, "log"), {
    ...{ producers, auditDir: layout.data("audit"), learnMs: 0 },
    ...(clock === undefined ? {} : { inception: clock.inception }),
  });
  auditd.clockMs = clock?.ms ?? null;
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const context = {
    layout,
    config: { appliance: "box", customer: "acme", keyKind: "dev" },
    parts: PARTS,
  } as unknown as PartContext;
  return [auditd, context, layout];
}

/** What of the release a pack reads. */
function layRelease(layout: Layout): void {
  mkdirSync(layout.release("app", "policies"), { recursive: true });
  for (const name of ["controls.json", "retention.json"])
    cpSync(join(POLICIES, name), layout.release("app", "policies", name));
  cpSync(VERIFIER, layout.release("app", "sov-verify.mjs"));
}

t.test(
  "an export is asked for in the log, written, and its outcome names what was written",
  async (t) => {
    const [auditd, context, { root }] = await started(t, `t${process.pid}-a`);
    const result = await exportAudit(context, join(root, "export.tar"));
    await t.rejects(exportAudit(context, join(root, "no-such-folder", "export.tar")), {
      code: "audit_export_failed",
    });
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.export");
    t.match(leaves, [
      { phase: "requested", action: "appliance audit export" },
      { phase: "completed", detail: { bundle_sha256: result.sha256, size: result.size } },
      { phase: "requested" },
      { phase: "failed", outcome: { code: "audit_export_failed" } },
    ]);
  },
);

t.test(
  "an evidence pack is asked for in the log like an export, covers that entry, and its outcome names what was written",
  async (t) => {
    const [auditd, context, layout] = await started(t, `t${process.pid}-e`);
    layRelease(layout);
    cpSync(auditd.config.policyFile, layout.data("audit", "audit.policy"));
    const folder = join(layout.root, "pack");
    const {
      shards: [result],
    } = await exportEvidence(context, "gdpr", folder);
    await t.rejects(exportEvidence(context, "iso", join(layout.root, "other")), {
      code: "audit_export_failed",
    });
    await t.rejects(
      exportEvidence(context, "GDPR, all of it", folder),
      { code: "audit_export_failed" },
      "refused before it is logged",
    );
    await auditd.stop();
    const all = await readLeaves(auditd.logDir);
    const leaves = all.filter(({ type }) => type === "audit.export");
    t.match(leaves, [
      {
        ...{ phase: "requested", action: "appliance audit evidence" },
        detail: { framework: "gdpr", nonce: /^[0-9a-f]{64}$/ },
      },
      { phase: "completed", detail: { bundle_sha256: result?.sha256, size: result?.size } },
      { phase: "requested", detail: { framework: "iso" } },
      { phase: "failed", outcome: { code: "audit_export_failed" } },
    ]);
    t.equal(leaves.length, 4);
    t.ok(result!.size > all.indexOf(leaves[0]!), "the pack holds its own request");
    t.match(readFileSync(join(folder, "SHA256SUMS"), "utf8"), result!.sha256);
    t.match(JSON.parse(readFileSync(join(folder, "verdicts.json"), "utf8")), [
      {
        verdicts: { INTEGRITY: { verdict: "PASS" } },
        freshness: { entry: all.indexOf(leaves[0]!) },
      },
    ]);
  },
);

t.test(
  "an earlier shard is exported, proven and read for a framework by its name, which stands in the log",
  async (t) => {
    const [auditd, context, layout] = await started(t, `t${process.pid}-s`, {
      ...{ inception: "2026-12-20", ms: Date.parse("2026-12-20T10:00:00Z") },
    });
    layRelease(layout);
    await auditd.stop();
    auditd.clockMs = Date.parse("2027-01-01T00:00:05Z");
    await auditd.start();
    t.match(await auditd.control({ verb: "clock-is-right" }), { origin: "box.audit.acme/2027" });
    cpSync(auditd.config.policyFile, layout.data("audit", "audit.policy"));
    const file = join(layout.root, "export.tar");
    const closed = await readLeaves(auditd.shardDir("2026"));
    const result = await exportAudit(context, file, { shard: "2026" });
    t.match(result, { origin: "box.audit.acme/2026", size: closed.length });
    const { stdout } = spawnSync(
      process.execPath,
      [VERIFIER, file, "--policy", auditd.config.policyFile, "--json"],
      {
        encoding: "utf8",
      },
    );
    t.match(JSON.parse(stdout), {
      verdicts: { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } },
    });
    const pack = await exportEvidence(context, "gdpr", join(layout.root, "pack"), {
      shard: "2026",
    });
    t.match(pack.shards, [{ origin: "box.audit.acme/2026", size: closed.length }]);
    const both = await exportEvidence(context, "gdpr", join(layout.root, "both"), {
      ...{ from: "2026-12-20", to: "2027-01-01" },
    });
    t.match(both.shards, [{ file: "log-2026.tar" }, { file: "log-2027.tar" }]);
    await t.rejects(
      exportEvidence(context, "gdpr", join(layout.root, "none"), {
        from: "2027-01-02",
        to: "2027-01-01",
      }),
      { code: "audit_export_failed", message: /no entry lies between/ },
    );
    const proof = join(layout.root, "first.tlog-proof");
    t.match(await proveEntry(context, 0, proof, "2026"), { shard: "2026", index: 0 });
    t.match(readFileSync(proof, "utf8"), /box\.audit\.acme\/2026\n/);
    await t.rejects(
      exportAudit(context, file),
      { code: "file_exists" },
      "evidence that is there is never replaced",
    );
    await t.rejects(proveEntry(context, 0, proof), { code: "file_exists" });
    const other = join(layout.root, "other.tar");
    for (const slug of ["2025", "2028", "../2026", ""])
      await t.rejects(exportAudit(context, other, { shard: slug }), {
        code: "shard_unknown",
        message: /there are 2026, 2027$/,
      });
    const nonce = "0".repeat(64);
    await t.rejects(exportAudit(context, other, { shard: "2026", nonce }), {
      code: "audit_export_failed",
      message: /2026 is closed/,
    });
    t.match(await exportAudit(context, other), { origin: "box.audit.acme/2027" });
    await auditd.stop();
    const leaves = (await readLeaves(auditd.shardDir("2027"))).filter(({ type }) =>
      /^audit\.(?:export|read)$/.test(type),
    );
    const ofPeriod = leaves.filter(
      ({ action, op }) => action !== undefined && op === leaves[4]?.op,
    );
    t.match(ofPeriod, [
      { detail: { from: "2026-12-20T00:00:00.000Z", to: "2027-01-02T00:00:00.000Z" } },
    ]);
    t.match(leaves[5]?.detail, {
      shards: both.shards.map(({ origin, size, sha256 }) => ({
        ...{ origin, size, bundle_sha256: sha256 },
      })),
    });
    t.same(
      leaves.map(({ type, phase, object }) => `${type} ${phase} ${object.id}`),
      [
        ...[
          "audit.export requested 2026",
          "audit.export completed 2026",
          "audit.export requested 2026",
        ],
        ...[
          "audit.export completed 2026",
          "audit.export requested box",
          "audit.export completed box",
          "audit.read fact 2026",
          "audit.export requested box",
          "audit.export completed box",
        ],
      ],
    );
  },
);

t.test(
  "the journal of model calls is exported with proofs, and the verifier finds the first call that is wrong",
  async (t) => {
    const [auditd, context, layout] = await started(t, `t${process.pid}-c`);
    const folder = layout.data("serving", "calls");
    const { journal } = await CallJournal.open(folder);
    const { notes } = EndNotes.open(folder);
    await using producer = await connectProducer({
      socketPath: layout.run("audit", "serving", "sock"),
      boot: crypto.randomUUID(),
    });
    const recorder = new CallRecorder(journal, notes, producer, (error) => t.error(error));
    const at = new Date().toISOString();
    const call = (id: string, deployment: string) =>
      recorder.begin({
        ...{ kind: "call", id, at, deployment, call: "predict", project: "p_1", replica: "m_1" },
        ...{ keySha256: "0".repeat(64), requestSha256: "1".repeat(64), requestBytes: 1 },
      });
    await call("c-0", "job-1");
    await Promise.all(["job-1", "job-2", "job-2"].map((job, n) => call(`c-${n + 1}`, job)));
    await recorder[Symbol.asyncDispose]();
    await journal[Symbol.asyncDispose]();
    notes[Symbol.dispose]();
    const out = (name: string): string => join(layout.root, name);
    const all = await exportModelCalls(context, out("all.jsonl"), { from: "1d" });
    t.match(all, { calls: 4, lines: 4, gone: 0, firstDamaged: null });
    t.match(await exportModelCalls(context, out("one.jsonl"), { deployment: "job-2" }), {
      ...{ calls: 2, batches: 1 },
    });
    t.notMatch(readFileSync(out("one.jsonl"), "utf8"), /job-1/, "no other's calls");
    await exportAudit(context, out("export.tar"));
    const verified = (calls: string) => {
      const { status, stdout } = spawnSync(
        process.execPath,
        [
          ...[VERIFIER, out("export.tar"), "--policy", auditd.config.policyFile, "--json"],
          ...["--calls", out(calls)],
        ],
        { encoding: "utf8" },
      );
      return { status, ...(JSON.parse(stdout) as { calls: object }) };
    };
    t.match(verified("all.jsonl"), {
      status: 0,
      calls: { judged: { verdict: "PASS" }, calls: 4, deployment: null },
    });
    t.match(verified("one.jsonl"), { status: 0, calls: { judged: { verdict: "PASS" }, calls: 2 } });
    const whole = readFileSync(out("all.jsonl"), "utf8");
    writeFileSync(out("changed.jsonl"), whole.replace('c-2\\",', 'c-9\\",'));
    t.match(verified("changed.jsonl"), {
      status: 32,
      calls: { judged: { verdict: "FAIL", reason: /the call c-9 is not what the log says/ } },
    });
    // What somebody changes in the journal itself, and what is there no more.
    const [day = ""] = readdirSync(folder).filter((name) => /^\d/.test(name));
    const lines = readFileSync(join(folder, day), "utf8");
    writeFileSync(join(folder, day), lines.replace('"id":"c-3"', '"id":"c-8"'));
    const damaged = await exportModelCalls(context, out("damaged.jsonl"));
    t.not(damaged.firstDamaged, null);
    t.match(verified("damaged.jsonl"), {
      status: 32,
      calls: { judged: { verdict: "FAIL", index: damaged.firstDamaged } },
    });
    rmSync(join(folder, day));
    t.match(await exportModelCalls(context, out("gone.jsonl")), { calls: 0, gone: 2 });
    t.match(verified("gone.jsonl"), {
      status: 65,
      calls: { judged: { verdict: "NOT CHECKED", reason: /2 batches more are erased/ } },
    });
    await t.rejects(exportModelCalls(context, out("all.jsonl")), { code: "file_exists" });
    await auditd.stop();
    const exports = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.export");
    t.match(exports.slice(0, 3), [
      { phase: "requested", action: "appliance audit calls" },
      { phase: "completed", detail: { calls: 4, bundle_sha256: all.sha256, bytes: all.bytes } },
      { phase: "requested", detail: { deployment: "job-2" } },
    ]);
  },
);

t.test(
  "an export opens what two people agreed to, for a receiver on record, and the verifier bears it out",
  async (t) => {
    const [auditd, context, layout] = await started(t, `t${process.pid}-b`);
    mkdirSync(layout.run("vault"), { mode: 0o750 });
    const vault = new VaultFixture(join(layout.root, "v"), {
      auditSocket: layout.run("audit", "vault", "sock"),
      controlSocket: layout.run("vault", "sock"),
    });
    t.teardown(() => vault.stop("SIGKILL"));
    await vault.start();
    await using gate = await connectProducer({
      socketPath: layout.run("audit", "coordinator-gate", "sock"),
      boot: crypto.randomUUID(),
    });
    for (let n = 0; n < 600; n++)
      await say(gate, n % 100 === 0 ? "usr-1" : "usr-2", `canary-export-${n}`);
    await say(gate, "usr-gone", "canary-export-gone");
    await until(async () => (await vault.status()).sealed === 601);
    t.match(await vault.ask(erase("usr-gone")), { confirmed: true });
    const file = join(layout.root, "export.tar");
    const { subjects, receiver, approval } = disclosing(auditd);
    const disclosure = { subjects, receiver, approval };
    const result = await exportAudit(context, file, { disclosure });
    t.match(result, { disclosed: { opened: 6, erased: 1 } });
    const text = readFileSync(file, "latin1");
    t.same(
      [0, 1, 100, 500, 599].filter((n) => text.includes(`"canary-export-${n}"`)),
      [0, 100, 500],
    );
    const { stdout } = spawnSync(
      process.execPath,
      [VERIFIER, file, "--policy", auditd.config.policyFile, "--json"],
      {
        encoding: "utf8",
      },
    );
    t.match(JSON.parse(stdout), {
      verdicts: {
        INTEGRITY: { verdict: "PASS" },
        DISCLOSURES: { verdict: "PASS", reason: /^6 values open their commitments, 1 are ERASED/ },
      },
    });

    const next = join(dirname(file), "next.tar");
    const killed = `${next}.0123456789abcdef.new`;
    writeFileSync(killed, "canary-export-killed");
    const alone = () =>
      exportAudit(context, next, {
        disclosure: { ...disclosure, approval: { ...approval, approved: null } },
      });
    await t.rejects(alone(), { code: "approval_single" });
    t.equal(readFileSync(file, "latin1"), text, "an older export stays");
    await exportAudit(context, next);
    t.notOk(existsSync(killed), "what a killed export left goes with the next one to its file");
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(
      ({ type }) => type === "audit.export" || type === "privacy.disclose",
    );
    t.match(
      leaves.map(({ type, phase, detail, outcome }) => ({ type, phase, detail, outcome })),
      [
        {
          type: "audit.export",
          phase: "requested",
          detail: { receiver: "auditor-1", approval: approval.approval },
        },
        { type: "privacy.disclose", phase: "requested", detail: { receiver: "auditor-1" } },
        { type: "privacy.disclose", phase: "completed", detail: { commitments: 6 } },
        {
          type: "audit.export",
          phase: "completed",
          detail: { disclosed: 6, bundle_sha256: result.sha256 },
        },
        { type: "audit.export", phase: "requested" },
        { type: "audit.export", phase: "failed", outcome: { code: "approval_single" } },
        { type: "audit.export", phase: "requested" },
        { type: "audit.export", phase: "completed" },
      ],
    );
  },
);
