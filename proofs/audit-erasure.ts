/**
 * What was erased is nowhere any more. Events about several people carry known values; the proof keeps values, salts and keys for itself. Some of the people
 * are erased while events keep coming, and once the last epoch is over that had copied their keys, every byte of every file of auditd, vault and audit-out is
 * searched: databases with their free pages and logs, spools, index, copies. The same search finds them before, in each form that it looks for.
 * A bundle that was handed out with disclosures lies elsewhere, and is beyond reach: the erasure says how many there are.
 *
 * `npm run prove -- audit-erasure [EVENTS_EACH]`; 500 for each of 8 people, 4 of them erased, unless said otherwise. Needs root: audit-out's configuration.
 */
import { randomBytes } from "node:crypto";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type AuditProducer, committer, connectProducer } from "@resontech/audit/producer";
import { addAuditOutProducer, AuditOutInstance } from "./audit/audit-out-instance.ts";
import { logDirOf, makeAuditdConfig, startAuditd, temporaryRoot } from "./audit/auditd-instance.ts";
import { Sought } from "./audit/remnants.ts";
import { addVaultProducer, VaultInstance } from "./audit/vault-instance.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const ERASED = ["usr-gone-1", "usr-gone-2", "usr-gone-3", "usr-gone-4"];
const KEPT = ["usr-kept-1", "usr-kept-2", "usr-kept-3", "usr-kept-4"];
const EPOCH_MS = 2_000;
const EPOCH_LIFE_MS = 8_000;
const LIMIT_MS = 120_000;

type Said = { subject: string; salt: string; value: string };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [eventsEach = 500] = args.map(Number);
  const root = temporaryRoot();
  const handedOut = mkdtempSync(join(tmpdir(), "handed-out-"));
  let auditd: ChildProcess | null = null;
  let out: AuditOutInstance | null = null;
  const config = makeAuditdConfig(root);
  addAuditOutProducer(root, config);
  addVaultProducer(root, config);
  const vault = new VaultInstance(root, EPOCH_MS, EPOCH_LIFE_MS);
  try {
    auditd = await startAuditd(root, config);
    const gate = await connectProducer({ socketPath: config.producers[0]!.socket, boot: crypto.randomUUID() });
    out = new AuditOutInstance(root, config, []);
    const said: Said[] = [];
    for (let n = 0; n < eventsEach; n++)
      said.push(...(await Promise.all([...ERASED, ...KEPT].map((subject) => say(gate, subject)))));
    const gone = said.filter(({ subject }) => ERASED.includes(subject));
    const clear = new Sought();
    for (const { salt, value } of gone) {
      clear.addText("value", value);
      clear.add("salt", Buffer.from(salt, "hex"));
    }
    const inSpool = clear.in(root);
    progress(`${said.length} events; before the vault began, ${inSpool.where.join(", ")} held values`);

    vault.start();
    await until(async () => (await vault.status())?.sealed === said.length, "the vault has sealed all");
    await until(async () => readdirSync(join(logDirOf(config), "disclosures")).length === 0, "the spool is empty");
    const inClear = clear.in(root);
    const sought = new Sought();
    for (const { salt, value } of gone) {
      sought.addText("value", value);
      sought.add("salt", Buffer.from(salt, "hex"));
    }
    const keys = vault.keysOf(ERASED);
    for (const { key, wrapped } of keys) {
      sought.add("key", key);
      sought.add("wrapped key", wrapped);
    }
    for (const sealed of vault.sealedOf(ERASED)) sought.add("sealed value", sealed.subarray(0, 32));
    const before = sought.in(root);
    const planted = plantEach(sought, root);
    progress(
      `sealed; ${Object.keys(before.found).join(" and ")} are found; ${planted.found} of ${planted.planted} planted forms are`,
    );

    const origin = `${config.originPrefix}/${config.inception.slice(0, 4)}`;
    const people = { requester: "usr-dpo", approvers: ["usr-a", "usr-b"] };
    const bundle = await vault.askAll({ verb: "disclose", origin, subjects: ERASED, receiver: "auditor-1", ...people });
    writeFileSync(join(handedOut, "disclosed.jsonl"), bundle.map((line) => `${JSON.stringify(line)}\n`).join(""));

    const stop = new AbortController();
    const load = keepSaying(gate, stop.signal);
    const erasingFrom = performance.now();
    const replies = await Promise.all(
      ERASED.map((subject) => vault.askAll({ verb: "erase", subject, request: "req-1", legalBasis: "gdpr-17", ...people })),
    );
    const erasureS = (performance.now() - erasingFrom) / 1_000;
    const erasedAtMs = Date.now();
    const erasures = replies.map(
      ([reply]) => reply as { erased?: { count: number }[]; finalAfter?: string; handedOut?: number; confirmed?: boolean },
    );
    const finalMs = Math.max(...erasures.map(({ finalAfter }) => Date.parse(finalAfter ?? "")));
    const atOnce = sought.in(root);
    progress(`erased; at once ${atOnce.where.length} files hold something; copies end at ${new Date(finalMs).toISOString()}`);
    await until(async () => Date.now() > finalMs + 2_000, "the last epoch is over");
    stop.abort();
    const meanwhile = await load;
    const after = sought.in(root);
    const keptCount = said.length - gone.length + meanwhile;
    await until(async () => (await vault.status())?.sealed === keptCount, "what came meanwhile is sealed");
    const status = await vault.status();
    await out.end();
    await vault.end();
    await gate.close();
    const stopped = sought.in(root);
    const beyond = sought.in(handedOut);
    const erasedCount = erasures.reduce((sum, { erased = [] }) => sum + erased.reduce((all, { count }) => all + count, 0), 0);
    const checks = {
      found_in_clear_before_sealing: inSpool.found.value !== undefined && inSpool.found.salt !== undefined,
      nothing_in_clear_once_sealed: inClear.where.length === 0,
      sealed_found_before_erasure: before.found["wrapped key"] !== undefined && before.found["sealed value"] !== undefined,
      every_planted_form_found: planted.found === planted.planted,
      all_erased: erasedCount === gone.length && erasures.every(({ confirmed }) => confirmed === true),
      handed_out_is_told: erasures.every(({ handedOut: times }) => times === 1) && beyond.found.value !== undefined,
      nothing_found_at_once: atOnce.where.length === 0,
      nothing_found_after_the_epochs: after.where.length === 0,
      nothing_found_when_stopped: stopped.where.length === 0,
      the_others_are_kept: status?.sealed === keptCount && status.fault === null,
    };
    return {
      ok: Object.values(checks).every(Boolean),
      figures: {
        ...checks,
        ...{
          people: ERASED.length + KEPT.length,
          people_erased: ERASED.length,
          commitments_erased: erasedCount,
          keys: keys.length,
        },
        ...{
          forms_looked_for: sought.forms,
          files_searched: after.files,
          bytes_searched: after.bytes,
          events_meanwhile: meanwhile,
        },
        final_after_s: Number(((finalMs - erasedAtMs) / 1_000).toFixed(1)),
        ...{ erasure_s: Number(erasureS.toFixed(2)), bundles_beyond_reach: readdirSync(handedOut).length },
      },
    };
  } finally {
    await vault.end();
    await out?.end();
    if (auditd !== null) await ended(auditd);
    for (const folder of [root, handedOut]) rmSync(folder, { recursive: true, force: true });
  }
}

async function say(gate: AuditProducer, subject: string): Promise<Said> {
  const commit = committer();
  const value = `Ada Lovelace ${randomBytes(12).toString("base64url")} of Example Street`;
  const pii = [{ field: "username" as const, commitment: commit("pii.username", value) }];
  const actor = { sub: subject, kind: "user" } as const;
  const draft = { type: "key.list", op: crypto.randomUUID(), actor, object: { kind: "user", id: subject }, pii } as const;
  await gate.fact({ ...draft, object: { ...draft.object }, pii }, commit.disclosures);
  return { subject, salt: commit.disclosures[0]!.salt, value };
}

/** Events of those who stay, while others are erased. @returns how many */
async function keepSaying(gate: AuditProducer, signal: AbortSignal): Promise<number> {
  let count = 0;
  for (; !signal.aborted; count++) {
    await say(gate, KEPT[count % KEPT.length]!);
    await pause(20);
  }
  return count;
}

/** Each form in a file of its own. */
function plantEach(sought: Sought, root: string): { planted: number; found: number } {
  const folder = mkdtempSync(join(root, "planted-"));
  try {
    const samples = sought.samples;
    const found = samples.filter(({ bytes }, at) => {
      const inner = mkdtempSync(join(folder, `${at}-`));
      writeFileSync(join(inner, "file"), Buffer.concat([randomBytes(1_000 + at), bytes, randomBytes(1_000)]));
      return sought.in(inner).where.length === 1;
    });
    return { planted: samples.length, found: found.length };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const limit = Date.now() + LIMIT_MS; !(await holds()); await pause(50))
    if (Date.now() > limit) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
