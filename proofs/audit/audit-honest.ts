/**
 * No false alarm: logs of real auditds that were killed, restarted, left dark, put back, turned over, stepped through time and left by their witness; each
 * verifies, with what happened told and nothing else, and no verdict fails but where one must.
 *
 * `npm run prove -- audit-honest [SEED [LOGS]]` (1 and 100 unless said)
 */
import { createReadStream, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type DisclosedRange, exportLog } from "@resontech/audit/export";
import { nodePlatform, parseKnown, type Report, verify } from "@resontech/verifier/judge";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { type Expected, HonestLog, KEPT_VALUES } from "./honest/honest-log.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

const DEFAULT_LOGS = 100;
const MAX_OTHER_STEPS = 5;

/** What each log is for; ordinary steps stand around it. */
const KINDS = {
  "crash cut": async (log) => {
    for (let crash = 0; crash < 3; crash++) await log.crash();
  },
  restarts: async (log) => {
    for (let restart = 0; restart < 3; restart++) await log.restart();
  },
  DARK: (log) => log.dark(),
  STOPPED: (log) => log.stopped(),
  "clock step": (log) => log.stepClock(),
  "clock set back while off": (log) => log.setBackWhileOff(),
  "turn of the year": (log) => log.turnOfTheYear(),
  restore: (log) => log.restore(),
  erasure: (log) => log.erase(),
  "producers come and go": async (log) => {
    await log.newProducerLife();
    await log.command();
  },
  "no witness asked for": (log) => log.write(),
  "witness away": (log) => log.runWithoutWitness(),
} as const satisfies Record<string, (log: HonestLog) => Promise<void>>;
type Kind = keyof typeof KINDS;
const ORDINARY = [
  (log) => log.write(),
  (log) => log.cosign(),
  async (log) => void (await log.keep()),
  (log) => log.crash(),
  (log) => log.restart(),
  (log) => log.dark(),
  (log) => log.stopped(),
  (log) => log.stepClock(),
  (log) => log.newProducerLife(),
  (log) => log.command(),
] as const satisfies readonly ((log: HonestLog) => Promise<void>)[];

type Judged = {
  kind: Kind;
  shards: number;
  entries: number;
  alarms: string[];
  missed: string[];
  told: Record<string, number>;
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? 1);
  const count = Number(args[1] ?? DEFAULT_LOGS);
  const root = temporaryRoot();
  const kinds = Object.keys(KINDS) as Kind[];
  const numbers = Array.from({ length: count }, (_, at) => at).values();
  const judged: Judged[] = [];
  const oneAfterTheOther = async (): Promise<void> => {
    for (const at of numbers) {
      const kind = kinds[at % kinds.length]!;
      const folder = join(root, String(at));
      const one = await live(folder, kind, seededRandom(seed * 1_000_003 + at));
      rmSync(folder, { recursive: true });
      judged.push(one);
      const faults = [...one.alarms, ...one.missed];
      if (faults.length > 0 || judged.length % 10 === 0)
        progress(
          `${judged.length} of ${count} logs${faults.length === 0 ? "" : `; ${at} (${kind}): ${faults.join("; ")}`}`,
        );
    }
  };
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, oneAfterTheOther));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  const sum = (numbersOf: (one: Judged) => number): number =>
    judged.reduce((total, one) => total + numbersOf(one), 0);
  const told: Record<string, number> = {};
  for (const one of judged)
    for (const [what, times] of Object.entries(one.told)) told[what] = (told[what] ?? 0) + times;
  const faulty = judged.filter(({ alarms, missed }) => alarms.length + missed.length > 0);
  return {
    ok: judged.length === count && faulty.length === 0,
    figures: {
      seed,
      logs: judged.length,
      shards: sum(({ shards }) => shards),
      entries: sum(({ entries }) => entries),
      by_kind: Object.fromEntries(
        kinds.map((kind) => [kind, judged.filter((one) => one.kind === kind).length]),
      ),
      told,
      false_alarms: sum(({ alarms }) => alarms.length),
      missed: sum(({ missed }) => missed.length),
      faulty: faulty.map(({ kind, alarms, missed }) => ({ kind, alarms, missed })),
    },
  };
}

async function live(folder: string, kind: Kind, random: () => number): Promise<Judged> {
  const log = await HonestLog.begin(folder, random, kind !== "no witness asked for");
  try {
    await log.write();
    for (let left = 1 + Math.floor(random() * MAX_OTHER_STEPS); left > 0; left--)
      await ORDINARY[Math.floor(random() * ORDINARY.length)]!(log);
    await KINDS[kind](log);
    await log.write();
    await log.end(kind !== "witness away");
    const one: Judged = { kind, shards: 0, entries: 0, alarms: [], missed: [], told: {} };
    for (const [slug, expected] of log.expected) await judge(log, slug, expected, one);
    return one;
  } catch (error) {
    const why = error instanceof Error ? error.stack : String(error);
    return {
      kind,
      shards: 0,
      entries: 0,
      alarms: [`it did not live to its end: ${why}; ${log.said}`],
      missed: [],
      told: {},
    };
  } finally {
    await log.kill();
  }
}

async function judge(log: HonestLog, slug: string, expected: Expected, one: Judged): Promise<void> {
  const file = `${log.logDir(slug)}.tar`;
  const disclosed = log.disclosed.get(slug);
  const disclose =
    disclosed === undefined
      ? {}
      : {
          disclose: async ({ from, to }: DisclosedRange) =>
            disclosed
              .filter(({ index }) => index >= from && index < to)
              .map((line) => JSON.stringify(line)),
        };
  await exportLog({
    logDir: log.logDir(slug),
    file,
    ...disclose,
    ...(expected.witness === "PASS" ? { witnessedFor: 0 } : {}),
  });
  const known = (log.kept.get(slug) ?? []).flatMap((note) => parseKnown(Buffer.from(note)));
  const policy = log.policy;
  const report = await verify({
    bundle: createReadStream(file),
    policy,
    platform: nodePlatform,
    known,
  });
  one.shards += 1;
  one.entries += report.entriesRead;
  const opened = disclosed?.filter((line) => "value" in line).length ?? 0;
  if (disclosed !== undefined && opened !== KEPT_VALUES)
    one.missed.push(`${slug}: ${opened} values were opened`);
  if (disclosed !== undefined)
    one.told["ERASED"] = (one.told["ERASED"] ?? 0) + disclosed.length - opened;
  for (const alarm of alarmsOf(report, expected, known.length > 0, disclosed !== undefined))
    one.alarms.push(`${slug}: ${alarm}`);
  const found = (report.findings?.stretches ?? []).map(({ kind }) => kind);
  for (const what of found) one.told[what] = (one.told[what] ?? 0) + 1;
  const outages = found.filter((what) => what !== "SILENT").join(" ");
  if (outages !== expected.stretches.join(" "))
    one.missed.push(`${slug}: tells “${outages}”, and there was “${expected.stretches.join(" ")}”`);
  if (report.findings?.abruptStarts !== expected.abruptStarts)
    one.missed.push(
      `${slug}: tells ${report.findings?.abruptStarts} abrupt starts, and there were ${expected.abruptStarts}`,
    );
  if (((report.findings?.recovered ?? null) !== null) !== expected.recovered)
    one.missed.push(`${slug}: RECOVERED`);
}

/** Verdicts that are not what an honest log deserves. */
function alarmsOf(
  { verdicts, refused }: Report,
  { witness }: Expected,
  hasKnown: boolean,
  isDisclosed: boolean,
): string[] {
  const deserved = {
    SIGNATURE: "PASS",
    INTEGRITY: "PASS",
    "APPEND-ONLY": hasKnown ? "PASS" : "NOT CHECKED",
    WITNESSED: witness,
    COMPLETENESS: "PASS",
    DISCLOSURES: isDisclosed ? "PASS" : "NOT CHECKED",
  } as const;
  const alarms = Object.entries(deserved)
    .filter(([name, verdict]) => verdicts[name as keyof typeof deserved].verdict !== verdict)
    .map(([name, verdict]) => {
      const { verdict: said, reason, index } = verdicts[name as keyof typeof deserved];
      return `${name} ${said} instead of ${verdict}: ${index ?? ""} ${reason}`;
    });
  return refused === null ? alarms : [`refused: ${refused}`, ...alarms];
}
