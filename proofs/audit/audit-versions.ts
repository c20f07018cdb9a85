/**
 * One verdict everywhere: the shipped verifier under official Node builds of four majors and as a page in chromium says the same of the same exports,
 * honest and altered. Fetches the builds once.
 *
 * `npm run prove -- audit-versions [SEED]`
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { exportLog } from "@resontech/audit/export";
import { StepCache } from "@resontech/airgap/step-cache";
import { buildApps } from "@resontech/airgap/programs";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { HonestLog } from "./honest/honest-log.ts";
import { openVerifierPage } from "./versions/by-page.ts";
import { type Case, makeCases } from "./versions/cases.ts";
import { nodeBuilds } from "./instances/node-builds.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

const CACHE = join(import.meta.dirname, "../../.cache");
const LARGE_LOG = 30_000;
const WRITTEN_AT_ONCE = 1_000;

type Report = Record<string, unknown> & {
  exitCode: number;
  verdicts: Record<string, { verdict: string; reason: string }>;
};
type Runtime = { name: string; judge: (one: Case) => Promise<Judged> };
type Judged = { report: Report | null; entriesPerSecond: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? 1);
  const root = temporaryRoot();
  const builds = nodeBuilds(join(CACHE, "node-builds"));
  const app = join(await buildApps(new StepCache(join(CACHE, "airgap"))), "app");
  const page = await openVerifierPage(join(app, "sov-verify.html"));
  try {
    const cases = await makeCases(root, seededRandom(seed));
    const large = await largeLog(root, seededRandom(seed));
    const runtimes: Runtime[] = builds.map(({ version, path }) =>
      byNode(version, path, join(app, "sov-verify.mjs")),
    );
    runtimes.push({
      name: `page in chromium ${page.version}`,
      judge: async (one) => (await page.judge(one)) as Judged,
    });
    // The product's own Node is what the others are compared with.
    const reference = runtimes.find(({ name }) => name.startsWith("Node 26"))!;
    const expected = new Map<Case, Report | null>();
    for (const one of cases) expected.set(one, (await reference.judge(one)).report);
    const rows: Record<string, unknown> = {};
    const different: string[] = [];
    for (const runtime of runtimes) {
      let same = 0;
      for (const one of cases) {
        const { report } = await runtime.judge(one);
        const verdict = compare(report, expected.get(one)!);
        if (verdict === "same") same += 1;
        else different.push(`${runtime.name}, ${one.name}: ${verdict}`);
      }
      const { entriesPerSecond } = await runtime.judge(large);
      rows[runtime.name] = { same, entries_per_s: entriesPerSecond };
      progress(`${runtime.name}: ${JSON.stringify(rows[runtime.name])}`);
    }
    for (const line of different) progress(`DIFFERENT ${line}`);
    const exits = [...expected.values()].map((report) => report?.exitCode ?? "refused");
    const byExitCode: Record<string, number> = {};
    for (const code of exits) byExitCode[code] = (byExitCode[code] ?? 0) + 1;
    return {
      ok: different.length === 0 && Object.keys(byExitCode).length > 3,
      figures: {
        seed,
        cases: cases.length,
        by_exit_code: byExitCode,
        runtimes: rows,
        large_log: LARGE_LOG,
        different,
      },
    };
  } finally {
    await page.end();
    rmSync(root, { recursive: true, force: true });
  }
}

function byNode(version: string, path: string, verifier: string): Runtime {
  return {
    name: `Node ${version}`,
    judge: async ({ file, policy, known, releases }) => {
      const from = performance.now();
      const given = [
        ...(policy === null ? [] : ["--policy", policy]),
        ...(known === null ? [] : ["--known", known]),
      ];
      given.push(...releases.flatMap((release) => ["--release", release]));
      const { stdout } = spawnSync(path, [verifier, file, ...given, "--json"], {
        encoding: "utf8",
        maxBuffer: 1 << 28,
      });
      const seconds = (performance.now() - from) / 1_000;
      const report = stdout === "" ? null : (JSON.parse(stdout) as Report);
      return {
        report,
        entriesPerSecond: Math.round(Number(report?.["entriesRead"] ?? 0) / seconds),
      };
    },
  };
}

/** The whole report must be the same. */
function compare(report: Report | null, expected: Report | null): string {
  if (isDeepStrictEqual(report, expected)) return "same";
  if (report === null || expected === null) return "one of them says nothing";
  return Object.keys(expected)
    .filter((name) => !isDeepStrictEqual(report[name], expected[name]))
    .map((name) => `${name}: ${JSON.stringify(report[name])} and ${JSON.stringify(expected[name])}`)
    .join("; ");
}

async function largeLog(root: string, random: () => number): Promise<Case> {
  const log = await HonestLog.begin(join(root, "large"), random, false);
  try {
    for (let left = LARGE_LOG; left > 0; left -= WRITTEN_AT_ONCE) await log.write(WRITTEN_AT_ONCE);
    await log.end(false);
    const file = join(root, "large.tar");
    await exportLog({ logDir: log.logDir(log.slug), file });
    return { name: "large", file, policy: log.policyFile, known: null, releases: [] };
  } finally {
    await log.kill();
  }
}
