/**
 * Nothing in an export can be changed unnoticed: every bit of a small one; of larger ones many bits or all of each kind of tile,
 * and of their entries; of one that witnesses countersigned its kept checkpoints, cosignatures and disclosures as well; every bit
 * of the policies; and what somebody with the disk and the log's keys can make of the whole: an older state, another history.
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
import { connectProducer } from "@resontech/audit/producer";
import { nodePlatform, type Report, verify } from "@resontech/verifier/judge";
import {
  logDirOf,
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "./instances/auditd-instance.ts";
import { drawBits, type Wanted } from "./mutation/draw-bits.ts";
import { flipped } from "./mutation/flipped.ts";
import { flipPolicy } from "./mutation/flip-policy.ts";
import type { Tallies, Tally, Work } from "./mutation/evaluate-bits.ts";
import { headOf, type TilePart } from "./mutation/layout.ts";
import { MixedEntries } from "./mutation/mixed-entries.ts";
import { makeWitnessedLog, type WitnessedLog } from "./mutation/witnessed-log.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

/** What is flipped in an export of so many entries. */
type Plan = { size: number; bits: Wanted };

const ALL: Wanted = {
  header: "all",
  "checkpoint head": "all",
  "log signature": "all",
  "entry length": "all",
  entry: "all",
  tile: "all",
  padding: "all",
  end: "all",
};
const SMALLEST = 12;
const KEPT = 700;
const BETWEEN = 256;
const LARGEST = 65_800;
/** Of each kind: most of its bits are of full tiles of level 0, and drawing from all of them would find few others. */
const TILE_BITS_OF_LARGEST = 200;
const PLANS: readonly Plan[] = [
  { size: SMALLEST, bits: ALL },
  // The widths at which tiles of level 0 begin, fill and overflow.
  { size: 127, bits: { tile: 8_000, entry: 2_000 } },
  { size: 255, bits: { tile: 2_000, entry: 2_000 } },
  { size: BETWEEN, bits: { tile: 2_000, entry: 2_000, "entry length": 500 } },
  { size: 257, bits: { tile: "all", entry: 2_000 } },
  {
    size: KEPT,
    bits: {
      tile: 1_000,
      entry: 2_000,
      "entry length": 500,
      header: 500,
      "log signature": 300,
      padding: 200,
    },
  },
  { size: LARGEST, bits: { tile: TILE_BITS_OF_LARGEST, entry: 60, header: 20 } },
];
/** Three levels; a full tile of level 2 would take a log 256 times as large. */
const TILES_OF_LARGEST: readonly TilePart[] = [
  "tile level 0 full",
  "tile level 0 partial",
  "tile level 1 full",
  "tile level 1 partial",
  "tile level 2 partial",
];
/** Of the log that witnesses countersigned. */
const WITNESSED: Wanted = {
  "checkpoint head": "all",
  "log signature": "all",
  cosignature: "all",
  "kept checkpoint head": "all",
  "kept log signature": 2_000,
  "kept cosignature": "all",
  "opened value": 3_000,
  "erasure mark": 2_000,
  header: 500,
  "entry length": 200,
  entry: 500,
  tile: 200,
  padding: 200,
};

type Exported = { size: number; tar: Uint8Array; policy: Uint8Array; bits: Wanted };
type Flips = { entries: number; flipped: number; tiles: Record<string, number> };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? 1);
  const random = seededRandom(seed);
  const root = temporaryRoot();
  try {
    const witnessed = await makeWitnessedLog(root);
    const grown = await growLog(root);
    const last: Exported = {
      ...witnessed,
      size: headOf(witnessed.tar).size,
      tar: shared(witnessed.tar),
      bits: WITNESSED,
    };
    const faults: string[] = [];
    const totals: Tallies = {};
    const exports: Flips[] = [];
    for (const one of [...grown, last]) {
      faults.push(...(await faultsUnflipped(one)));
      exports.push(await flipExport(one, random, totals, progress));
    }
    const policies = [
      await flipPolicy(grown[0]!.tar, grown[0]!.policy),
      await flipPolicy(last.tar, last.policy),
    ] as const;
    for (const { flipped, caught, fewerAskedFor } of policies)
      progress(
        `policy: ${caught} of ${flipped} flips caught, ${fewerAskedFor.length} ask for fewer witnesses`,
      );
    const wholes = await wholeHistories(root, grown, witnessed);
    for (const whole of wholes) progress(`${whole.what}: ${whole.said}`);
    const [plain, countersigned] = policies;
    faults.push(
      ...Object.entries(totals).flatMap(([part, { flipped, caught, named }]) =>
        flipped > 0 && caught === flipped && named === flipped
          ? []
          : [`${part}: ${caught} caught and ${named} named of ${flipped}`],
      ),
      ...faultsOfTiles(exports),
      ...policies.flatMap(({ missed }) => missed.map((what) => `policy: ${what}`)),
      ...wholes.filter(({ isCaught }) => !isCaught).map(({ what }) => what),
    );
    // Of three that are asked for one bit makes two, another one; nothing else may be excused.
    if (plain.fewerAskedFor.length !== 0 || countersigned.fewerAskedFor.length !== 2)
      faults.push("policy: other quorums");
    return {
      ok: faults.length === 0,
      figures: {
        seed,
        flipped: exports.reduce((sum, { flipped }) => sum + flipped, 0),
        faults,
        exports,
        parts: totals,
        policies: { plain, countersigned },
        wholes,
      },
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Exports of one log as it grows. */
async function growLog(root: string): Promise<Exported[]> {
  // No entry of auditd's own while it grows: the sizes are exact.
  const config = { ...makeAuditdConfig(root), heartbeatMs: 3_600_000 };
  const auditd: ChildProcess = await startAuditd(root, config);
  try {
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    const entries = new MixedEntries(producer);
    const policy = readFileSync(config.policyFile);
    const grown: Exported[] = [];
    for (const { size, bits } of PLANS) {
      await entries.growTo(size);
      const file = join(root, `${size}.tar`);
      await exportLog({ logDir: logDirOf(config), file });
      const tar = shared(readFileSync(file));
      if (headOf(tar).size !== size)
        throw new Error(`the export has ${headOf(tar).size} entries instead of ${size}`);
      grown.push({ size, tar, policy, bits });
      if (size === KEPT) copyFileSync(join(logDirOf(config), "checkpoint"), join(root, "kept"));
    }
    await producer.close();
    return grown;
  } finally {
    if (auditd.exitCode === null) {
      auditd.kill("SIGTERM");
      await once(auditd, "exit");
    }
  }
}

/** What is not flipped passes: else nothing would have been caught. */
async function faultsUnflipped({ size, tar, policy }: Exported): Promise<string[]> {
  const { refused, verdicts } = await verify({
    bundle: flipped(tar, null),
    policy,
    platform: nodePlatform,
  });
  const failed = Object.entries(verdicts).filter(([, { verdict }]) => verdict === "FAIL");
  return [
    ...(refused === null ? [] : [`${size} entries, as they are: ${refused}`]),
    ...failed.map(([name, { reason }]) => `${size} entries, as they are: ${name} ${reason}`),
  ];
}

async function flipExport(
  { size, tar, policy, bits: wanted }: Exported,
  random: () => number,
  totals: Tallies,
  progress: ProofContext["progress"],
): Promise<Flips> {
  const from = performance.now();
  const { bits, counts } = drawBits(tar, wanted, random);
  const tallies = await judged(tar, policy, bits);
  const entries = tallies.flatMap((tally) => Object.entries(tally));
  for (const [part, one] of entries) add((totals[part] ??= empty()), one);
  const caught = entries.reduce((sum, [, one]) => sum + one.caught, 0);
  progress(
    `${size} entries: ${caught} of ${bits.length} flips caught in ${Math.round((performance.now() - from) / 1_000)} s`,
  );
  const tiles = Object.fromEntries(
    Object.entries(counts).filter(([part]) => part.startsWith("tile ")),
  );
  return { entries: size, flipped: bits.length, tiles };
}

/** Every kind of tile that there can be was flipped. */
function faultsOfTiles(exports: readonly Flips[]): string[] {
  const { tiles } = exports.find(({ entries }) => entries === LARGEST)!;
  return TILES_OF_LARGEST.filter((part) => (tiles[part] ?? 0) < TILE_BITS_OF_LARGEST).map(
    (part) => `${part}: too few flipped`,
  );
}

/** A share of the bits to each thread. */
async function judged(tar: Uint8Array, policy: Uint8Array, bits: Float64Array): Promise<Tallies[]> {
  const threads = availableParallelism();
  return await Promise.all(
    Array.from({ length: threads }, async (_, thread) => {
      const work: Work = { tar, policy, bits: bits.filter((__, at) => at % threads === thread) };
      const worker = new Worker(new URL("mutation/evaluate-bits.ts", import.meta.url), {
        workerData: work,
      });
      const [tallies] = (await once(worker, "message")) as [Tallies];
      return tallies;
    }),
  );
}

/** What an auditor sees of an older state, and of another history under the log's own keys, if he kept a checkpoint. */
async function wholeHistories(
  root: string,
  grown: readonly Exported[],
  { honest, rebuilt }: WitnessedLog,
): Promise<{ what: string; said: string; isCaught: boolean }[]> {
  const [origin = "", size = "", hash = ""] = readFileSync(join(root, "kept"), "utf8").split("\n");
  const kept = { origin, size: Number(size), root: Buffer.from(hash, "base64").toString("latin1") };
  const of = (entries: number): Exported => grown.find((one) => one.size === entries)!;
  const judge = async ({ tar, policy }: Exported, known: (typeof kept)[]): Promise<Report> =>
    await verify({ bundle: flipped(tar, null), policy, platform: nodePlatform, known });
  const older = await judge(of(SMALLEST), [kept]);
  const between = headOf(of(BETWEEN).tar);
  const other = await judge(of(LARGEST), [
    { ...kept, root: "\u0001".repeat(32) },
    { ...between, root: between.root.toString("latin1") },
  ]);
  const said = ({ verdicts }: Report): string => verdicts["APPEND-ONLY"].reason;
  const isCaught = ({ verdicts }: Report): boolean =>
    verdicts["APPEND-ONLY"].verdict === "FAIL" &&
    verdicts.SIGNATURE.verdict === "PASS" &&
    verdicts.INTEGRITY.verdict === "PASS";
  const verdictsOf = ({ verdicts }: Report): string =>
    (["SIGNATURE", "INTEGRITY", "WITNESSED", "DISCLOSURES"] as const)
      .map((name) => verdicts[name].verdict)
      .join(", ");
  const opened = honest.verdicts.DISCLOSURES.reason;
  const unwitnessed = rebuilt.verdicts.WITNESSED.reason;
  return [
    {
      what: "the log that witnesses countersigned, and one rebuilt with the log's keys without them",
      said: `${verdictsOf(honest)}: ${opened}; ${verdictsOf(rebuilt)}: ${unwitnessed}`,
      isCaught:
        verdictsOf(honest) === "PASS, PASS, PASS, PASS" &&
        verdictsOf(rebuilt) === "PASS, PASS, FAIL, NOT CHECKED",
    },
    { what: "yesterday's state, signed", said: said(older), isCaught: isCaught(older) },
    {
      what: "another history between two checkpoints that were kept",
      said: said(other),
      isCaught:
        isCaught(other) &&
        said(other).includes(`between entries ${between.size} and ${kept.size - 1}`),
    },
  ];
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
