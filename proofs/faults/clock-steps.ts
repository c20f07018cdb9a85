/**
 * Somebody sets a clock an hour back, then an hour ahead, in the middle of a federated job: first the node's, then that of everything of ours
 * on the control side. No lease may end, no attempt be lost and no member die; a job that is submitted under the wrong clock must run as well;
 * the log verifies. process-clocks.ts says whose clocks are set, and whose can't be.
 *
 * `npm run prove -- clock-steps`
 */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { ApplianceLog } from "@resontech/house/appliance-log";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { readFindings } from "@resontech/house/status-findings";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { auditReport, isVerified, verdictsOf } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import { type OwnProcess, ProcessClocks } from "./clock-steps/process-clocks.ts";
import type { Harm } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { isRunningProcess } from "./watch/is-running-process.ts";

const HOUR_S = 3600;
const SIDES = {
  node: ["agent"],
  control: ["coordinator", "auditd", "s3-front", "appliance"],
} as const satisfies Record<string, readonly OwnProcess[]>;
type Side = keyof typeof SIDES;
const STEPS = (Object.keys(SIDES) as Side[]).flatMap((side) =>
  [-HOUR_S, HOUR_S].map((stepS) => ({ side, stepS })),
);
/** Longer than a lease, so that one that stood still would end. */
const JOB = { rounds: 5, ticks: 24 };
const JOB_LIMIT_MS = 300_000;
const LOOK_AFTER_MS = 40_000;
const SEEN_WITHIN_S = 60;

type Stepped = {
  elapsedS: number;
  /** What the processes say of the time, less the true one. */
  seenS: Record<string, number>;
  sameProcesses: boolean;
  found: string[];
  next: string;
};

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  await using harmed = await HarmedJobs.open(installed, progress, { limitMs: JOB_LIMIT_MS });
  await appliance.command(["stop"]);
  const clocks = ProcessClocks.under(appliance, installed.folder("clocks"));
  await appliance.command(["start"]);
  await untilHealthy(appliance);
  const done = [];
  for (const step of STEPS)
    done.push({
      step,
      ...(await harmed.through(setClock(appliance, harmed, clocks, step, progress))),
    });
  const left = await harmed.leftBehind();
  const folder = installed.folder("audit");
  // The starter that sets clocks stands in the place of the release's Node, which the log says and the vendor's release shows.
  const { COMPLETENESS } = (
    await auditReport(appliance, folder, [join(bundle.bundle, "release.json")])
  ).verdicts;
  const isStarterTold =
    COMPLETENESS?.verdict === "FAIL" &&
    COMPLETENESS.reason.includes(" was started with bin/node, ");
  const audit = verdictsOf(await auditReport(appliance, folder, []));
  const ok =
    done.every(({ isGood }) => isGood) && left.length === 0 && isVerified(audit) && isStarterTold;
  const each = done.map(({ step, end, seen: { next, ...seen } }) => ({
    ...{ ...step, ...seen, state: end.state, attempt: end.attempt, next },
    ...{ overlaps: end.overlaps, wrongModels: end.wrongModels },
  }));
  return { ok, figures: { each, left, audit, by_the_release: COMPLETENESS } };
}

/** The clock of one side is set, another job is submitted under it, and the clock is put right. */
function setClock(
  appliance: LocalAppliance,
  { jobs, api }: HarmedJobs,
  clocks: ProcessClocks,
  { side, stepS }: { side: Side; stepS: number },
  progress: (line: string) => void,
): Harm<Stepped> {
  const name = `${side}${stepS < 0 ? "-back" : "-ahead"}`;
  return {
    name,
    job: JOB,
    happen: async (job, toItsEnd) => {
      await jobs.untilCommitted(job, 0);
      const before = jobs.containers();
      progress(`${side}: its clock is set by ${stepS} s, in the middle of a job`);
      clocks.set(SIDES[side], stepS);
      const from = Date.now();
      await sleep(LOOK_AFTER_MS);
      const found = readFindings(appliance);
      const sameProcesses = isDeepStrictEqual(jobs.containers(), before);
      progress(
        `  after ${LOOK_AFTER_MS / 1000} s: ${sameProcesses ? "the same containers" : "other containers"}; status: ${found.join("; ")}`,
      );
      const { state, attempt } = await toItsEnd();
      progress(
        `  ${state} on attempt ${attempt}; another job, from its submission under that clock`,
      );
      const next = await api.untilEnded(
        await jobs.submit(`${name}-next`, { rounds: 2, ticks: 4 }),
        JOB_LIMIT_MS,
      );
      const seenS = await seenBy(appliance, side);
      const elapsedS = Math.round((Date.now() - from) / 1000);
      clocks.set(SIDES[side], 0);
      await untilHealthy(appliance);
      return { elapsedS, seenS, sameProcesses, found, next: next.status };
    },
    holds: ({ attempt }, { elapsedS, seenS, sameProcesses, found, next }) =>
      Object.entries(seenS).every(
        ([process, seen]) => Math.abs(seen - expected(process, stepS, elapsedS)) < SEEN_WITHIN_S,
      ) &&
      // The coordinator watches its own clock alone.
      found.some((line) => line.startsWith("warning clock_set:")) === (side === "control") &&
      sameProcesses &&
      attempt === 1 &&
      next === "FINISHED",
    tell: (_, { next, seenS }) =>
      `  ${next}; the processes say a time that is off by ${JSON.stringify(seenS)} s`,
  };
}

/** The log's own time never decreases: it stands still where a step back found it, until the clock has caught up. */
function expected(name: string, stepS: number, elapsedS: number): number {
  return name === "auditd" && stepS < 0 ? -elapsedS : stepS;
}

/** Seconds by which each process's time is ahead of the true one, by what it says of it; what is written now and then may be a while behind. */
async function seenBy(appliance: LocalAppliance, side: Side): Promise<Record<string, number>> {
  const { name, ports } = JSON.parse(
    readFileSync(join(appliance.root, "etc", "appliance.json"), "utf8"),
  ) as ApplianceConfig;
  const times =
    side === "node"
      ? { agent: await lastWordOfAgent(appliance) }
      : {
          coordinator: await dateOf(`https://${name}:${ports.api}/healthz`, appliance),
          "s3-front": await dateOf(`https://${name}:${ports.s3}/healthz`, appliance),
          auditd: Date.parse((await new ApplianceLog(appliance).since(0)).at(-1)?.t_log ?? ""),
        };
  return Object.fromEntries(
    Object.entries(times).map(([name, time]) => [name, Math.round((time - Date.now()) / 1000)]),
  );
}

/** The agent says little while all is well, and something when it is ended; another starts after it, under that clock. */
async function lastWordOfAgent(appliance: LocalAppliance): Promise<number> {
  const file = join(appliance.root, "log", "agent.log");
  const { pid } = appliance.status().parts.find(({ name }) => name === "agent") ?? {};
  if (pid === undefined || pid === null) throw new Error("there is no agent");
  process.kill(pid, "SIGTERM");
  while (isRunningProcess(pid)) await sleep(100);
  const lastOf = new RegExp(`"time":(\\d+),"pid":${pid},`, "g");
  const last = [...readFileSync(file, "utf8").matchAll(lastOf)].at(-1)?.[1];
  await untilHealthy(appliance);
  return Number(last);
}

/** The `Date` of an answer. */
async function dateOf(url: string, appliance: LocalAppliance): Promise<number> {
  const ca = readFileSync(join(appliance.root, "etc", "ca", "root.crt"));
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(url, { ca, agent: false }, (answer) => {
    answer.resume();
    resolve(Date.parse(answer.headers.date ?? ""));
  })
    .on("error", reject)
    .end();
  return await promise;
}
