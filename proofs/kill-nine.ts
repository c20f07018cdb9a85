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
import { verifyAudit } from "../dev/verify-audit.ts";
import { Api } from "./appliance/api.ts";
import { openUploads } from "./appliance/open-uploads.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import { seededRandom } from "./measure/seeded-random.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const PARTS = ["coordinator", "agent"] as const;
const KILLS_EACH = 5;
const JOB_LIMIT_MS = 240_000;

type Killed = {
  part: string;
  afterS: number;
  inState: string;
  state: string;
  attempts: number;
  seconds: number;
  restarts: number;
};
type Status = { parts: { name: string; pid: number | null; restarts: number }[] };

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
    const partOf = async (name: string): Promise<Status["parts"][number]> => {
      const { parts } = JSON.parse(await appliance.command(["status", "--json"])) as Status;
      const part = parts.find((each) => each.name === name);
      if (part === undefined) throw new Error(`no part is named ${name}`);
      return part;
    };
    const database = join(appliance.root, "data", "coordinator", "coordinator.db");

    progress("one job that nobody disturbs, for the length of a job");
    let from = Date.now();
    const calm = await api.untilEnded(await submit("kill-none"), JOB_LIMIT_MS);
    const calmMs = Date.now() - from;
    progress(`${calm.status} after ${(calmMs / 1000).toFixed(1)} s`);

    const killed: Killed[] = [];
    for (const part of PARTS) {
      for (let n = 0; n < KILLS_EACH; n += 1) {
        const id = await submit(`kill-${part}-${n}`);
        from = Date.now();
        // One point in each fifth of a job's life.
        await sleep(((n + random()) / KILLS_EACH) * calmMs * 0.95);
        const inState = stateOf(database, id);
        const { pid } = await partOf(part);
        if (pid === null) throw new Error(`${part} does not run`);
        process.kill(pid, "SIGKILL");
        const afterS = seconds(from);
        const task = await api.untilEnded(id, JOB_LIMIT_MS);
        const { restarts } = await partOf(part);
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
