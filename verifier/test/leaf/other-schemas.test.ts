/** Entries of a release that this verifier does not know: of these the envelope alone is checked, and the judges still look into what they say. */
import { generateKeyPairSync } from "node:crypto";
import t from "tap";
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { KEY_TYPE, noteSigner } from "@resontech/audit/format/note/note-key";
import { tlogProof } from "@resontech/audit/format/tree/tlog-proof";
import { erasureElsewhere } from "../../src/disclosures/erasures.ts";
import { verifyProof } from "../../src/event-proof.ts";
import { renderText } from "../../src/report/output.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import type { Report } from "../../src/verify.ts";
import { MadeLog, ORIGIN } from "../helper/made-log.ts";

const SCHEMA = "f".repeat(64);
/** What a judge may take for something else. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    -1,
    0,
    2 ** 53 - 1,
    "",
    "text",
    "NaN",
    "x".repeat(15_000),
    [],
    {},
    [null],
    [[]],
    ["p", null, 7],
  ],
  ...[{ toString: null }, { toString: 1, valueOf: 1 }, [{ toString: null }], { length: 3, map: 1 }],
];
/** Where the judges look, by type. */
const LOOKED_AT: readonly [
  type: string,
  prod: string,
  phase: string,
  members: readonly string[],
][] = [
  ["audit.heartbeat", "auditd", "fact", ["producers", "vector", "away"]],
  ["audit.producer.start", "auditd", "fact", ["boot", "first_pseq", "prev_boot", "prev_pseq"]],
  ["audit.rejected", "auditd", "fact", ["taken", "boot", "pseq"]],
  ["audit.lost", "auditd", "fact", ["index"]],
  ["audit.op.carried", "auditd", "fact", ["type", "logged_at"]],
  ["audit.export", "auditd", "requested", ["nonce"]],
  ["admin.clock.step", "auditd", "fact", ["step_ms"]],
  ["data.stage", "coordinator-gate", "fact", ["url_sha256", "ttl_s"]],
  ["data.download.issue", "coordinator-gate", "fact", ["url_sha256", "ttl_s"]],
  ["data.object.read", "s3-front", "fact", ["url_sha256", "status"]],
  ["privacy.erasure", "vault", "completed", ["erased"]],
];
const OPENED = ["reason", "prev_origin", "prev_size", "prev_root", "seen_size", "lost"];

/** As the entry was, but under another release's schemas. */
function changed(leaf: Buffer, changes: Record<string, unknown>): Buffer {
  const event = { ...(JSON.parse(leaf.toString()) as object), schema_sha256: SCHEMA, ...changes };
  return Buffer.from(canonicalJson(event, 20));
}

function withLast(changes: Record<string, unknown>): MadeLog {
  const log = MadeLog.begun();
  log.run(1);
  log.leaves.push(changed(log.leaves.at(-1)!, changes));
  log.run(1);
  return log;
}

function withFirst(detail: Record<string, unknown>): MadeLog {
  const log = MadeLog.begun();
  const { detail: known } = JSON.parse(log.leaves[0]!.toString()) as { detail: object };
  log.leaves[0] = changed(log.leaves[0]!, { detail: { ...known, ...detail } });
  return log;
}

function numbersIn(value: unknown): number[] {
  if (typeof value === "number") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

function isWhole(report: Report): boolean {
  return (
    report.refused === null && renderText(report) !== "" && numbersIn(report).every(Number.isFinite)
  );
}

t.test("a detail that is no object fails INTEGRITY with its entry", async (t) => {
  for (const detail of [null, true, 7, "text", [], [{}]])
    t.match(
      (await withLast({ detail }).judge()).verdicts.INTEGRITY,
      { verdict: "FAIL", index: 4, reason: /no object/ },
      JSON.stringify(detail),
    );
  t.match((await withLast({ detail: {} }).judge()).verdicts.INTEGRITY, { verdict: "PASS" });
});

t.test("whatever an entry says where the judges look, it is judged to the end", async (t) => {
  for (const [type, prod, phase, members] of LOOKED_AT)
    for (const member of members)
      for (const value of VALUES) {
        const report = await withLast({
          type,
          prod,
          phase,
          detail: { taken: true, [member]: value },
        }).judge({
          nonce: Buffer.alloc(32),
        });
        if (!isWhole(report)) t.fail(`${type}: ${member} ${JSON.stringify(value).slice(0, 80)}`);
      }
  for (const member of OPENED)
    for (const value of VALUES)
      for (const reason of ["first", "restore"])
        if (!isWhole(await withFirst({ reason, [member]: value }).judge()))
          t.fail(`audit.shard.open: ${member} ${JSON.stringify(value).slice(0, 80)}`);
});

t.test("whatever a list of the entry holds, it is judged to the end", async (t) => {
  const one = { origin: ORIGIN, commitments_count: 1, commitments_root: SCHEMA };
  for (const value of VALUES) {
    const lists: [string, object][] = [
      ["audit.heartbeat", { producers: [{ prod: "p", boot: "b-1", pseq: value }, value] }],
      ["audit.heartbeat", { producers: [{ prod: value, boot: value, pseq: 1 }] }],
      ["audit.heartbeat", { vector: { producers: value, sha256: value } }],
      ["audit.heartbeat", { away: [value, "p"] }],
      ["privacy.erasure", { erased: [{ ...one, origin: value }, value] }],
      ["privacy.erasure", { erased: [{ ...one, commitments_count: value }] }],
      ["privacy.erasure", { erased: [{ ...one, commitments_root: value }] }],
    ];
    for (const [type, detail] of lists)
      if (
        !isWhole(
          await withLast({
            type,
            phase: type === "audit.heartbeat" ? "fact" : "completed",
            detail,
          }).judge(),
        )
      )
        t.fail(`${type} ${JSON.stringify(detail).slice(0, 120)}`);
  }
});

t.test("a shard that says it was restored, and not from what, fails COMPLETENESS", async (t) => {
  const lost = {
    reason: "restore",
    prev_origin: "box.audit.acme/2025",
    prev_size: 5,
    seen_size: 9,
  };
  t.match(await withFirst(lost).judge(), {
    findings: { recovered: { origin: "box.audit.acme/2025", from: 5, to: 9 } },
    verdicts: { COMPLETENESS: { verdict: "PASS", reason: /entries 5 to 8/ } },
  });
  for (const wrong of [
    { prev_origin: null },
    { prev_size: "5" },
    { seen_size: {} },
    { prev_size: -1 },
  ])
    t.match(
      await withFirst({ ...lost, ...wrong }).judge(),
      {
        findings: { recovered: null },
        verdicts: { COMPLETENESS: { verdict: "FAIL", index: 0, reason: /restored/ } },
      },
      JSON.stringify(wrong),
    );
});

t.test("a life that does not say where it begins is a GAP", async (t) => {
  for (const detail of [
    {},
    { boot: "b" },
    { boot: 7, first_pseq: 1 },
    { boot: "b", first_pseq: "1" },
  ])
    t.match(
      (
        await withLast({
          type: "audit.producer.start",
          object: { kind: "producer", id: "q" },
          detail,
        }).judge()
      ).verdicts.COMPLETENESS,
      { verdict: "FAIL", reason: /GAP/ },
      JSON.stringify(detail),
    );
});

t.test("the proof of an erasure that states anything at all is judged", async (t) => {
  const log = MadeLog.begun();
  const key = noteSigner(ORIGIN, KEY_TYPE.ed25519, generateKeyPairSync("ed25519").privateKey);
  log.keys.splice(0, log.keys.length, key);
  const one = { origin: ORIGIN, commitments_count: 1, commitments_root: SCHEMA };
  for (const member of Object.keys(one))
    for (const value of VALUES) {
      const detail = { erased: [{ ...one, [member]: value }] };
      const leaf = changed(log.leaves[0]!, { type: "privacy.erasure", phase: "completed", detail });
      const note = log.checkpoint(1, { root: hashLeaf(leaf) });
      const proof = Buffer.from(tlogProof(leaf, 0, [], note));
      const erasure = erasureElsewhere(await verifyProof(proof, log.policy(), nodePlatform));
      t.match(erasure, { isProven: true }, JSON.stringify(value).slice(0, 80));
    }
});
