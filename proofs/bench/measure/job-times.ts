/** Where the seconds of one job went: the kernel's own events, and NVFlare's log and the metrics that the job left as its output. */
import { join } from "node:path";
import Database from "better-sqlite3";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { Workstation } from "@resontech/house/workstation";

export type JobTimes = {
  /** From acceptance to the stored model. */
  totalS: number;
  /** From acceptance to the first step of training at any site. */
  firstStepS: number;
  /** From acceptance to the end of the last round: what follows differs in kind from the plain run's end. */
  roundsEndedS: number;
  /** Each from the end of the one before it. */
  phasesS: {
    placed: number;
    containers_run: number;
    federation_formed: number;
    first_round: number;
    first_step: number;
  };
  /** From each round's start to its end, by NVFlare's own log: the plain run is measured by the same lines. */
  roundsS: number[];
};

type KernelEvent = { at: number; member_id: string | null; to_state: string };
type Metric = { t: string; kind: string };

const ROUND = /^(\S+ \S+) - ScatterAndGather - INFO - .*Round (\d+) (started|finished)\./gm;

const READ_OBJECT = `
import os, sys, boto3
s3 = boto3.client("s3", endpoint_url=os.environ["RESON_S3_ENDPOINT"], region_name="us-east-1",
    aws_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"], aws_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"])
body = s3.get_object(Bucket=os.environ["RESON_S3_BUCKET"], Key=sys.argv[1])["Body"]
sys.stdout.buffer.write(body.read())
`;

export async function readJobTimes(
  appliance: LocalAppliance,
  workstation: Workstation,
  id: string,
  folder: string,
): Promise<JobTimes> {
  const db = new Database(join(appliance.root, "data", "coordinator", "coordinator.db"), {
    readonly: true,
  });
  let events: KernelEvent[];
  try {
    events = db
      .prepare<[string], KernelEvent>(
        "SELECT at, member_id, to_state FROM job_events WHERE job_id = ? ORDER BY seq",
      )
      .all(id);
  } finally {
    db.close();
  }
  const output = (file: string): Promise<string> =>
    workstation.python(["-c", READ_OBJECT, `${folder}/files_out/${file}`]);
  const metrics = (await output("metrics.jsonl"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Metric);
  const job = (state: string): number =>
    events.find((event) => event.member_id === null && event.to_state === state)?.at ?? Number.NaN;
  const accepted = job("ACCEPTED");
  const instants = (kind: string): number[] =>
    metrics.filter((line) => line.kind === kind).map((line) => Date.parse(line.t));
  const placed = job("RESERVED");
  const running = Math.max(
    ...events
      .filter((event) => event.member_id !== null && event.to_state === "RUNNING")
      .map(({ at }) => at),
  );
  const formed = job("RUNNING");
  const firstRound = instants("round-started")[0] ?? Number.NaN;
  // The example logs its metric when it has judged the incoming model and is about to train.
  const firstStep = Math.min(...instants("metric"));
  const seconds = (from: number, to: number): number => Number(((to - from) / 1000).toFixed(3));
  return {
    totalS: seconds(accepted, job("SUCCEEDED")),
    firstStepS: seconds(accepted, firstStep),
    roundsEndedS: seconds(accepted, instants("round-ended").at(-1) ?? Number.NaN),
    phasesS: {
      placed: seconds(accepted, placed),
      containers_run: seconds(placed, running),
      // NVFlare's own start; the last part of it overlaps with the first round's announcement.
      federation_formed: seconds(running, formed),
      first_round: seconds(formed, firstRound),
      first_step: seconds(firstRound, firstStep),
    },
    roundsS: roundSeconds(await output("training_log.txt")),
  };
}

function roundSeconds(log: string): number[] {
  const started = new Map<string, number>();
  const rounds: number[] = [];
  for (const [, at = "", round = "", what] of log.matchAll(ROUND)) {
    // `2026-01-31 12:00:00,123`: only differences count, so the zone does not.
    const ms = Date.parse(`${at.replace(",", ".").replace(" ", "T")}Z`);
    if (what === "started") started.set(round, ms);
    else rounds.push((ms - (started.get(round) ?? Number.NaN)) / 1000);
  }
  return rounds;
}
