/**
 * Nothing in an export can be changed unnoticed: every bit of a small one, every bit of the tiles and many of the entries of larger ones, the keys in
 * the policy; and what somebody with the disk and the log's keys can make of the whole: an older state, another history.
 *
 * `npm run prove -- audit-mutation [SEED]`
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { exportLog } from "@resontech/audit/export";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { nodePlatform, verify } from "@resontech/audit/verifier/judge";
import { logDirOf, makeAuditdConfig, startAuditd, temporaryRoot } from "./audit/auditd-instance.ts";
import type { Tally, Work } from "./audit/mutation/judge-bits.ts";
import { layoutOf, type Stretch } from "./audit/mutation/layout.ts";
import { rebuiltWithoutWitness } from "./audit/mutation/witnessed-log.ts";
import { seededRandom } from "./measure/seeded-random.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

/** Which bits of an export of so many entries are flipped: all, or so many drawn ones of a part. */
type Plan = { size: number; bits: Partial<Record<Stretch["part"], number | "all">> };

const ALL: Plan["bits"] = {
  header: "all",
  checkpoint: "all",
  "entry length": "all",
  entry: "all",
  tile: "all",
  padding: "all",
  end: "all",
};
const PLANS: readonly Plan[] = [
  { size: 12, bits: ALL },
  // The widths at which tiles of level 0 begin, fill and overflow.
  { size: 127, bits: { tile: "all", entry: 2_000 } },
  { size: 255, bits: { tile: 12_000, entry: 2_000 } },
  { size: 256, bits: { tile: 12_000, entry: 2_000, "entry length": 500 } },
  { size: 257, bits: { tile: 12_000, entry: 2_000 } },
  { size: 700, bits: { tile: 8_000, entry: 4_000, "entry length": 1_000, header: 500, checkpoint: 500, padding: 200 } },
  // Three levels, each with a full tile or a partial one.
  { size: 65_800, bits: { tile: 100, entry: 60, header: 20 } },
];

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? 1);
  const random = seededRandom(seed);
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  try {
    const config = makeAuditdConfig(root);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({ socketPath: config.producers[0]!.socket, boot: crypto.randomUUID() });
    const policy = readFileSync(config.policyFile);
    const tars: { size: number; tar: Uint8Array; bits: Float64Array }[] = [];
    for (const { size, bits } of PLANS) {
      await growTo(producer, size);
      const file = join(root, `${size}.tar`);
      await exportLog({ logDir: logDirOf(config), file });
      const tar = shared(readFileSync(file));
      tars.push({ size, tar, bits: draw(tar, bits, random) });
      if (size === 700) copyFileSync(join(logDirOf(config), "checkpoint"), join(root, "kept"));
    }
    await producer.close();

    const totals: Record<string, Tally> = {};
    for (const { size, tar, bits } of tars) {
      const from = performance.now();
      const tallies = await judged(tar, policy, bits);
      for (const tally of tallies) for (const [part, one] of Object.entries(tally)) add((totals[part] ??= empty()), one);
      const caught = tallies.flatMap((tally) => Object.values(tally)).reduce((sum, one) => sum + one.caught, 0);
      progress(
        `${size} entries: ${caught} of ${bits.length} flips caught in ${Math.round((performance.now() - from) / 1_000)} s`,
      );
    }
    const keys = await flipPolicy(tars[0]!.tar, policy);
    progress(`policy: ${keys.caught} of ${keys.flipped} flips caught`);
    const wholes = await wholeHistories(root, tars, policy);
    for (const whole of wholes) progress(`${whole.what}: ${whole.said}`);
    const parts = Object.values(totals);
    const ok =
      parts.every(({ flipped, caught, named }) => flipped > 0 && caught === flipped && named === flipped) &&
      keys.caught === keys.flipped &&
      wholes.every(({ isCaught }) => isCaught);
    return {
      ok,
      figures: { seed, flipped: parts.reduce((sum, { flipped }) => sum + flipped, 0), parts: totals, policy: keys, wholes },
    };
  } finally {
    if (auditd !== null && auditd.exitCode === null) {
      auditd.kill("SIGTERM");
      await once(auditd, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  }
}

/** Kinds of entries as they come: short ones and long ones. */
async function growTo(producer: AuditProducer, size: number): Promise<void> {
  let index = (await producer.status()).size - 1;
  while (index + 1 < size) {
    const batch = Array.from({ length: Math.min(size - index - 1, 1_000) }, () =>
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
}

function draw(tar: Uint8Array, wanted: Plan["bits"], random: () => number): Float64Array {
  const bits: number[] = [];
  const layout = layoutOf(tar);
  for (const [part, count] of Object.entries(wanted)) {
    const bytes = layout.filter((stretch) => stretch.part === part).flatMap(({ from, to }) => range(from, to));
    if (count === "all" || count >= bytes.length * 8) for (const at of bytes) bits.push(...range(at * 8, at * 8 + 8));
    else
      for (let drawn = 0; drawn < count; drawn++)
        bits.push(bytes[Math.floor(random() * bytes.length)]! * 8 + Math.floor(random() * 8));
  }
  return Float64Array.from(bits);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

/** Half of the bits to each thread. */
async function judged(tar: Uint8Array, policy: Uint8Array, bits: Float64Array): Promise<Record<string, Tally>[]> {
  const threads = availableParallelism();
  return await Promise.all(
    Array.from({ length: threads }, async (_, thread) => {
      const work: Work = { tar, policy, bits: bits.filter((__, at) => at % threads === thread) };
      const worker = new Worker(new URL("audit/mutation/judge-bits.ts", import.meta.url), { workerData: work });
      const [tallies] = (await once(worker, "message")) as [Record<string, Tally>];
      return tallies;
    }),
  );
}

/** Every bit of the policy's lines: a log that it does not vouch for must not pass. */
async function flipPolicy(tar: Uint8Array, policy: Buffer): Promise<{ flipped: number; caught: number; missed: string[] }> {
  const missed: string[] = [];
  const flipped = policy.length * 8;
  for (let bit = 0; bit < flipped; bit++) {
    const changed = Uint8Array.from(policy);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const { verdicts, refused } = await verify({
      bundle: onePiece(Uint8Array.from(tar)),
      policy: changed,
      platform: nodePlatform,
    });
    if (refused === null && verdicts.SIGNATURE.verdict === "PASS" && missed.length < 5)
      missed.push(`byte ${bit >> 3} bit ${bit & 7}`);
  }
  return { flipped, caught: flipped - missed.length, missed };
}

/** What an auditor sees of an older state, and of another history under the log's own keys, if he kept a checkpoint. */
async function wholeHistories(
  root: string,
  tars: readonly { size: number; tar: Uint8Array }[],
  policy: Buffer,
): Promise<{ what: string; said: string; isCaught: boolean }[]> {
  const [origin = "", size = "", hash = ""] = readFileSync(join(root, "kept"), "utf8").split("\n");
  const kept = { origin, size: Number(size), root: Buffer.from(hash, "base64").toString("latin1") };
  const older = await verify({ bundle: onePiece(Uint8Array.from(tars[0]!.tar)), policy, platform: nodePlatform, known: [kept] });
  const between = headOf(tars.find(({ size }) => size === 256)!.tar);
  const other = await verify({
    bundle: onePiece(Uint8Array.from(tars.at(-1)!.tar)),
    policy,
    platform: nodePlatform,
    known: [
      { ...kept, root: "\u0001".repeat(32) },
      { ...kept, ...between, root: between.root.toString("latin1") },
    ],
  });
  const said = ({ verdicts }: Awaited<ReturnType<typeof verify>>): string => verdicts["APPEND-ONLY"].reason;
  const isCaught = ({ verdicts }: Awaited<ReturnType<typeof verify>>): boolean =>
    verdicts["APPEND-ONLY"].verdict === "FAIL" && verdicts.SIGNATURE.verdict === "PASS" && verdicts.INTEGRITY.verdict === "PASS";
  const { honest, rebuilt } = await rebuiltWithoutWitness(root);
  const verdictsOf = ({ verdicts }: Awaited<ReturnType<typeof verify>>): string =>
    (["SIGNATURE", "INTEGRITY", "WITNESSED"] as const).map((name) => verdicts[name].verdict).join(" ");
  return [
    {
      what: "the log that a witness countersigned, and one rebuilt with the log's keys without it",
      said: `${verdictsOf(honest)}; ${verdictsOf(rebuilt)}: ${rebuilt.verdicts.WITNESSED.reason}`,
      isCaught: verdictsOf(honest) === "PASS PASS PASS" && verdictsOf(rebuilt) === "PASS PASS FAIL",
    },
    { what: "yesterday's state, signed", said: said(older), isCaught: isCaught(older) },
    {
      what: "another history between two checkpoints that were kept",
      said: said(other),
      isCaught: isCaught(other) && said(other).includes(`between entries ${between.size} and ${kept.size - 1}`),
    },
  ];
}

/** Of an export's checkpoint, which stands behind the first header. */
function headOf(tar: Uint8Array): { size: number; root: Buffer } {
  const [, size = "", root = ""] = Buffer.from(tar).toString("utf8", 512, 2_048).split("\n");
  return { size: Number(size), root: Buffer.from(root, "base64") };
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Threads read it without a copy. */
function shared(bytes: Buffer): Uint8Array {
  const memory = new Uint8Array(new SharedArrayBuffer(bytes.length));
  memory.set(bytes);
  return memory;
}

const empty = (): Tally => ({ flipped: 0, caught: 0, named: 0, exact: 0, faults: [] });

function add(total: Tally, { flipped, caught, named, exact, faults }: Tally): void {
  total.flipped += flipped;
  total.caught += caught;
  total.named += named;
  total.exact += exact;
  total.faults.push(...faults.slice(0, 5 - Math.min(5, total.faults.length)));
}
