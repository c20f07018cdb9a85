/** What the fuzzer begins with: exports, proofs, policies and checkpoints of real logs, with values opened and erased by a real vault. */
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  type DisclosedRange,
  exportLog,
  exportProof,
  printedCheckpoint,
} from "@resontech/audit/export";
import { type AuditProducer, committer, connectProducer } from "@resontech/audit/producer";
import { nodePlatform, verify } from "@resontech/verifier/judge";
import { logDirOf, makeAuditdConfig, startAuditd } from "../instances/auditd-instance.ts";
import { HonestLog } from "../honest/honest-log.ts";
import {
  addVaultProducer,
  disclosureOf,
  erasureOf,
  VaultInstance,
} from "../instances/vault-instance.ts";
import { leavesOf } from "./members.ts";
import { type KeyRing, newKeyRing } from "./note-keys.ts";
import { startsOfVersion } from "./releases.ts";

export type RealExport = { name: string; bundle: Buffer; policy: Buffer };
export type Samples = {
  exports: RealExport[];
  proofs: { name: string; proof: Buffer; policy: Buffer }[];
  /** What an auditor may have kept: notes, printed ones, a report. */
  known: Buffer[];
  /** Texts of the entries of each log, in order. */
  leaves: string[][];
  ring: KeyRing;
};

/** Of releases that ran while a log was written. */
export const MEASURED_VERSIONS = [0, 1];

const FIRST = 12;
/** At which tiles fill and overflow. */
const SIZES = [255, 256, 257];
const LARGEST = 700;
const PEOPLE = ["usr-1", "usr-2", "usr-3"];
const GONE = "usr-2";
const EVENTS_EACH = 8;
const EPOCH_MS = 3_600_000;
const LIMIT_MS = 120_000;
const FIELDS = ["email", "hostname", "username"] as const;

export async function makeSamples(root: string, random: () => number): Promise<Samples> {
  const grown = await grownLog(join(root, "grown"));
  const lived = await livedLog(join(root, "lived"), random);
  const { exports } = grown;
  const leaves = [grown.exports.at(-1)!, lived.exports.at(-1)!].map(({ bundle }) =>
    leavesOf(bundle),
  );
  const report = await verify({
    bundle: onePiece(exports[0]!.bundle),
    policy: exports[0]!.policy,
    platform: nodePlatform,
  });
  return {
    exports: [...exports, ...lived.exports],
    proofs: [...grown.proofs, ...lived.proofs],
    known: [...grown.known, ...lived.known, Buffer.from(JSON.stringify(report))],
    leaves,
    ring: newKeyRing(),
  };
}

type Made = Pick<Samples, "exports" | "proofs" | "known">;

/** Each width at which tiles begin, fill and overflow; then people whose values are opened, and one of them erased. */
async function grownLog(root: string): Promise<Made> {
  mkdirSync(root, { recursive: true });
  const config = makeAuditdConfig(root);
  addVaultProducer(root, config);
  const vault = new VaultInstance(root, EPOCH_MS, 2 * EPOCH_MS);
  const auditd = await startAuditd(root, config);
  const made: Made = { exports: [], proofs: [], known: [] };
  const dir = logDirOf(config);
  const policy = readFileSync(config.policyFile);
  const add = async (
    name: string,
    disclosures: readonly Disclosure[] | null = null,
  ): Promise<void> => {
    const file = join(root, "export.tar");
    const disclose = async ({ from, to }: DisclosedRange): Promise<string[] | null> =>
      disclosures?.filter(({ index }) => index >= from && index < to).map(({ line }) => line) ??
      null;
    await exportLog({ logDir: dir, file, disclose });
    made.exports.push({ name, bundle: readFileSync(file), policy });
  };
  try {
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    await growTo(producer, FIRST);
    await add("few entries");
    made.known.push(readFileSync(join(dir, "checkpoint")));
    made.known.push(Buffer.from(printedCheckpoint(made.known[0]!.toString(), policy).text));
    for (let event = 0; event < EVENTS_EACH; event++)
      for (const subject of PEOPLE) await say(producer, subject);
    vault.start();
    await until(
      async () => (await vault.status())?.sealed === EVENTS_EACH * PEOPLE.length * FIELDS.length,
      "all is sealed",
    );
    const origin = `${config.originPrefix}/${config.inception.slice(0, 4)}`;
    const disclosed = async (): Promise<Disclosure[]> => {
      const lines = await vault.askAll(disclosureOf(origin, PEOPLE));
      await growTo(producer, (await producer.status()).size + 1);
      return lines
        .filter(({ index }) => typeof index === "number")
        .map((line) => ({ index: Number(line["index"]), line: sorted(line) }));
    };
    await add("values opened", await disclosed());
    await vault.askAll(erasureOf(GONE));
    const lines = await disclosed();
    await add("values opened and erased", lines);
    for (const size of SIZES) {
      await growTo(producer, size);
      await add(`${size} entries`);
      made.known.push(readFileSync(join(dir, "checkpoint")));
    }
    await growTo(producer, LARGEST);
    await add("values opened and erased, of many entries", lines);
    const erasure = /"erased":\{"index":([0-9]+)/.exec(lines.map(({ line }) => line).join())?.[1];
    for (const index of [0, FIRST - 1, 255, 256, Number(erasure)])
      made.proofs.push({
        name: `proof of entry ${index}`,
        proof: Buffer.from(await exportProof(dir, index)),
        policy,
      });
    await producer.close();
    return made;
  } finally {
    await vault.end();
    auditd.kill("SIGTERM");
    if (auditd.exitCode === null) await once(auditd, "exit");
  }
}

/** Witnessed, with hourly checkpoints, measured starts, silences, restarts and steps of the clock. */
async function livedLog(root: string, random: () => number): Promise<Made> {
  const log = await HonestLog.begin(root, random, true);
  try {
    for (const version of MEASURED_VERSIONS) await log.measure(startsOfVersion(version));
    await log.write(40);
    await log.cosign();
    await log.crash();
    await log.stopped();
    await log.write(60);
    await log.cosign();
    await log.dark();
    await log.stepClock();
    const kept = await log.keep();
    await log.newProducerLife();
    await log.write(150);
    await log.end(true);
    const dir = log.logDir(log.slug);
    const file = join(root, "export.tar");
    await exportLog({ logDir: dir, file, witnessedFor: 0 });
    return {
      exports: [{ name: "witnessed", bundle: readFileSync(file), policy: log.policy }],
      proofs: [
        {
          name: "witnessed proof",
          proof: Buffer.from(await exportProof(dir, 7)),
          policy: log.policy,
        },
      ],
      known: [Buffer.from(kept)],
    };
  } finally {
    await log.kill();
  }
}

type Disclosure = { index: number; line: string };

/** Names in order make it canonical: the vault's values hold nothing that is escaped. */
function sorted(line: object): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(line).sort(([a], [b]) => (a < b ? -1 : 1))),
  );
}

async function say(producer: AuditProducer, subject: string): Promise<void> {
  const commit = committer();
  const pii = FIELDS.map((field) => ({
    field,
    commitment: commit(`pii.${field}`, `${field} of ${subject}`),
  }));
  const object = { kind: "user", id: subject } as const;
  await producer.fact(
    {
      type: "key.list",
      op: crypto.randomUUID(),
      actor: { sub: subject, kind: "user" },
      object,
      pii,
    },
    commit.disclosures,
  );
}

async function growTo(producer: AuditProducer, size: number): Promise<void> {
  let { size: reached } = await producer.status();
  const object = { kind: "user", id: "usr-1" } as const;
  while (reached < size) {
    const draft = {
      type: "key.list",
      op: crypto.randomUUID(),
      actor: { sub: "usr-1", kind: "user" },
      object,
    } as const;
    reached = (await producer.fact(draft)).index + 1;
  }
  await producer.covered(size - 1);
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (const endsAt = Date.now() + LIMIT_MS; !(await holds()); await pause(50))
    if (Date.now() > endsAt) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
