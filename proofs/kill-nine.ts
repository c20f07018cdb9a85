/**
 * kill -9 of the installed coordinator and agent during real federated jobs, five times each, at seeded points spread over a job's life.
 * Every job must end FINISHED; afterwards nothing is left on the node or in the bucket's uploads, and the log verifies offline.
 *
 * `npm run prove -- kill-nine [SEED]`
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { untilNothingIsLeft } from "../dev/leftovers.ts";
import type { LocalAppliance } from "../dev/local-appliance.ts";
import { verifyAudit } from "../dev/verify-audit.ts";
import { Api } from "./appliance/api.ts";
import { openUploads } from "./appliance/open-uploads.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import { seededRandom } from "./measure/seeded-random.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const PARTS = ["coordinator", "agent"] as const;
const KILLS_EACH = 5;
const JOB_LIMIT_MS = 240_000;
const LIFE_SHARE = 0.93;
/** Longer than the supervisor waits before it starts a part that ended often. */
const HEALTHY_LIMIT_MS = 90_000;

type Killed = {
  part: string;
  afterS: number;
  inState: string;
  state: string;
  attempts: number;
  seconds: number;
  restarts: number;
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const workstation = await installed.workstation("kills");
  const api = new Api(appliance);
  try {
    const submit = async (name: string): Promise<string> => {
      const events = await workstation.events([
        "/example/submit.py",
        "--shards",
        "/work/shards",
        "--out",
        "/work",
        "--name",
        name,
        "--detach",
      ]);
      const id = events.at(-1)?.["id"];
      if (typeof id !== "string") throw new Error(`${name} was not accepted: ${JSON.stringify(events)}`);
      return id;
    };
    const database = join(appliance.root, "data", "coordinator", "coordinator.db");

    progress("two jobs that nobody disturbs: the second is as long as the others would be, the first pulls the image as well");
    let calmMs = Number.NaN;
    for (const name of ["calm-0", "calm-1"]) {
      const id = await submit(name);
      const from = Date.now();
      const { status } = await api.untilEnded(id, JOB_LIMIT_MS);
      calmMs = Date.now() - from;
      progress(`${status} after ${seconds(from)} s`);
    }

    const killed: Killed[] = [];
    for (const part of PARTS) {
      for (let n = 0; n < KILLS_EACH; n += 1) {
        const id = await submit(`kill-${part}-${n}`);
        const from = Date.now();
        const { pid } = await untilHealthy(appliance, part);
        // One point in each fifth of a job's life, the last of them before its end.
        await sleep(Math.max(0, from + ((n + random()) / KILLS_EACH) * calmMs * LIFE_SHARE - Date.now()));
        const inState = stateOf(database, id);
        process.kill(pid, "SIGKILL");
        const afterS = seconds(from);
        const task = await api.untilEnded(id, JOB_LIMIT_MS);
        const { restarts } = await untilHealthy(appliance, part);
        killed.push({
          part,
          afterS,
          inState,
          state: task.status,
          attempts: task.detail.attempt,
          seconds: seconds(from),
          restarts,
        });
        progress(
          `${part} killed after ${afterS} s (${inState}): ${task.status} after ${seconds(from)} s, attempt ${task.detail.attempt}`,
        );
      }
    }

    const left = [...(await untilNothingIsLeft(appliance)), ...(await openUploads(workstation))];
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const finished = killed.filter(({ state }) => state === "FINISHED").length;
    const ok =
      finished === PARTS.length * KILLS_EACH &&
      killed.every(({ inState }) => inState !== "SUCCEEDED") &&
      left.length === 0 &&
      audit["SIGNATURE"] === "PASS" &&
      audit["INTEGRITY"] === "PASS";
    return { ok, figures: { seed, calm_job_s: Math.round(calmMs / 100) / 10, finished, of: killed.length, killed, left, audit } };
  } finally {
    api.close();
  }
}

/** A part that was killed often is started again later each time. */
async function untilHealthy(appliance: LocalAppliance, name: string): Promise<{ pid: number; restarts: number }> {
  for (const from = Date.now(); Date.now() - from < HEALTHY_LIMIT_MS; await sleep(200)) {
    const part = appliance.status().parts.find((each) => each.name === name);
    if (part?.phase === "healthy" && part.pid !== null) return { pid: part.pid, restarts: part.restarts };
  }
  throw new Error(`${name} was not healthy within ${HEALTHY_LIMIT_MS / 1000} s`);
}

/** Straight from the database: the coordinator may be the one that is about to be killed. */
function stateOf(file: string, id: string): string {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare<[string], { state: string }>("SELECT state FROM jobs WHERE id = ?").get(id)?.state ?? "unknown";
  } finally {
    db.close();
  }
}

function seconds(fromMs: number): number {
  return Math.round((Date.now() - fromMs) / 100) / 10;
}
