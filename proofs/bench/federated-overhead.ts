/**
 * What the platform adds to a federated job: the digits job through the public client and the installed appliance, beside the same job on
 * plain NVFlare processes in one container of the same image, on the same cores, with the same `task_request_interval`. Alternating, five
 * times each; provisioning and start count on both sides. Then three times with 30 rounds, which judge what a round costs: NVFlare asks every
 * 0.2 s, a tenth of two rounds of the short job, and what is stored every few seconds comes in a long one alone.
 *
 * `npm run prove -- federated-overhead [TIMES]`
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "@resontech/house/local-appliance";
import { Workstation } from "@resontech/house/workstation";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { bench, byRound } from "./measure/bench.ts";
import { readJobTimes } from "./measure/job-times.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { spread } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const JOB_LIMIT_MS = 240_000;
const GOAL = { whole: 1.3, rounds: 1.05 } as const;
/** Both sides: as the coordinator tells every job, and as submit.py trains. */
const PLAIN_OPTIONS = ["--interval", "0.2", "--epochs", "3"];
const ROUNDS = 3;
const LONG = { rounds: 30, times: 3 } as const;

type Side = "platform" | "plain";
/** One job, on either side. */
type Run = {
  wholeS: number;
  /** To the end of its last round. */
  endedS: number;
  firstStepS: number;
  phasesS: Record<string, number>;
  roundsS: number[];
};
/** What the script of the plain side prints. */
type Plain = { total_s: number; phases_s: Record<string, number>; rounds_s: number[] };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const times = Number(args[0] ?? 5);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  const workstation = await installed.workstation("overhead");
  const scripts = installed.folder("plain");
  copyFileSync(
    join(repository, "proofs", "bench", "federated-overhead", "plain_nvflare.py"),
    join(scripts, "plain_nvflare.py"),
  );
  copyFileSync(
    join(repository, "examples", "digits", "digits_model.py"),
    join(scripts, "digits_model.py"),
  );
  const plainly = await Workstation.open(appliance, installed.folder("overhead"), scripts);
  const api = new ApplianceApi(appliance);
  using stack = new DisposableStack();
  stack.defer(() => api.close());
  const onPlatform = async (name: string, rounds: number): Promise<Run> => {
    const files = ["--shards", "/work/shards", "--out", "/work"];
    const command = [
      "/example/submit.py",
      ...files,
      "--name",
      name,
      "--rounds",
      String(rounds),
      "--detach",
    ];
    const id = String((await workstation.events(command)).at(-1)?.["id"]);
    const task = await api.untilEnded(id, JOB_LIMIT_MS);
    if (task.status !== "FINISHED")
      throw new Error(`the platform's run ended ${task.status}: ${task.error ?? ""}`);
    const { totalS, roundsEndedS, ...run } = await readJobTimes(
      ...([appliance, workstation, id, `jobs/${name}`] as const),
    );
    return { wholeS: totalS, endedS: roundsEndedS, ...run };
  };
  const onPlain = async (rounds: number): Promise<Run> => {
    const files = ["--model", "/example/digits_model.py", "--shards", "/work/shards"];
    const command = [
      "/example/plain_nvflare.py",
      ...files,
      ...PLAIN_OPTIONS,
      "--rounds",
      String(rounds),
    ];
    const output = await plainly.python(command);
    const plain = JSON.parse(output.trimEnd().split("\n").at(-1) ?? "") as Plain;
    return {
      ...{ wholeS: plain.total_s, phasesS: plain.phases_s, roundsS: plain.rounds_s },
      endedS: plain.phases_s["rounds_ended"] ?? Number.NaN,
      firstStepS: plain.phases_s["first_training_step"] ?? Number.NaN,
    };
  };
  const short = await bench<Record<Side, Run>>(
    {
      platform: { measure: (n) => onPlatform(`overhead-${n}`, ROUNDS) },
      plain: { measure: () => onPlain(ROUNDS) },
    },
    {
      rounds: times,
      told: (run, n) =>
        progress(
          `${n + 1} of ${times}: platform ${run.platform.wholeS} s, plain NVFlare ${run.plain.wholeS} s`,
        ),
    },
  );
  const { measured: long } = await bench<Record<Side, number>>(
    {
      platform: {
        measure: async (n) =>
          meanOfLater((await onPlatform(`overhead-long-${n}`, LONG.rounds)).roundsS),
      },
      plain: { measure: async () => meanOfLater((await onPlain(LONG.rounds)).roundsS) },
    },
    {
      rounds: LONG.times,
      told: (run, n) =>
        progress(
          `${LONG.rounds} rounds, ${n + 1} of ${LONG.times}: a round takes ${run.platform} s, by plain NVFlare ${run.plain} s`,
        ),
    },
  );
  const { platform, plain } = short.measured;
  const [ours, peer] = [spreadsOf(platform), spreadsOf(plain)];
  const whole = ours.whole.median / peer.whole.median;
  const rounds = byRound(long.platform, long.plain, (own, beside) => own / beside, 3);
  return {
    ok: whole <= GOAL.whole && rounds.median <= GOAL.rounds,
    figures: {
      times,
      whole_job_ratio: Number(whole.toFixed(3)),
      // Plain NVFlare takes seconds to end a job whose rounds are over; without them the comparison is this one.
      to_last_round_ratio: Number((ours.ended.median / peer.ended.median).toFixed(3)),
      // Pair by pair, of the means of rounds 2 to 30.
      rounds_2_to_n_ratio: rounds,
      rounds_2_to_3_ratio: Number((ours.later.median / peer.later.median).toFixed(3)),
      // Seconds of one round, the mean of rounds 2 to 30 of a job.
      rounds_of_30: long.platform.map((seconds, at) => ({
        ...{ platform: seconds, plain: long.plain[at] },
      })),
      platform_whole_s: ours.whole,
      plain_whole_s: peer.whole,
      platform_to_last_round_s: ours.ended,
      plain_to_last_round_s: peer.ended,
      platform_rounds_2_to_3_s: ours.later,
      plain_rounds_2_to_3_s: peer.later,
      // From the accepted submission to the first step of training, each phase from its own start.
      platform_phases_s: phasesOf(platform.map(({ phasesS }) => phasesS)),
      // From the start of provisioning, as they were reached.
      plain_reached_s: phasesOf(plain.map(({ phasesS }) => phasesS)),
      first_step_ratio: Number((ours.firstStep.median / peer.firstStep.median).toFixed(3)),
    },
  };
}

function spreadsOf(runs: readonly Run[]) {
  return {
    whole: spread(runs.map(({ wholeS }) => wholeS)),
    ended: spread(runs.map(({ endedS }) => endedS)),
    later: spread(runs.map(({ roundsS }) => later(roundsS))),
    firstStep: spread(runs.map(({ firstStepS }) => firstStepS)),
  };
}

function later(rounds: readonly number[]): number {
  return rounds.slice(1).reduce((sum, seconds) => sum + seconds, 0);
}

function meanOfLater(rounds: readonly number[]): number {
  return Number((later(rounds) / (rounds.length - 1)).toFixed(3));
}

function phasesOf(
  runs: readonly Record<string, number>[],
): Record<string, ReturnType<typeof spread>> {
  return Object.fromEntries(
    Object.keys(runs[0] ?? {}).map((name) => [
      name,
      spread(runs.map((run) => run[name] ?? Number.NaN)),
    ]),
  );
}
