/** The replicas of jobs that have some and run: which there are, how many more are wanted, and the end of one. Who wants how many is decided elsewhere. */
import { STANDING_SINCE } from "@resontech/contracts/agent-protocol";
import type { MemberState } from "@resontech/contracts/job-states";
import type { WriteHandle } from "../db/open-database.ts";
import { storedKindsOf } from "../kernel/decisions/stored-kind.ts";
import type { KernelTables } from "../kernel/kernel-tables.ts";
import type { MemberRow } from "../kernel/rows.ts";
import type { Transitions } from "../kernel/transitions.ts";

export type ReplicaRow = {
  /** Of the member. */
  id: string;
  state: MemberState;
  desired: "run" | "stop";
  is_ready: number;
  /** Its node is late with its beats. */
  is_suspect: number;
  /** Its node takes nothing new. */
  is_cordoned: number;
  /** Its worker was taken back for a job. */
  makes_way: number;
  /** Its agent can put it to sleep: a processor is nobody else's meanwhile, and its memory needs no device. */
  can_sleep: number;
} & Pick<MemberRow, "wish_order" | "wishes_sleep" | "standing" | "standing_order">;

export class Replicas {
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #running;
  readonly #of;
  readonly #waiting;

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#tables = tables;
    this.#transitions = transitions;
    this.#running = db
      .prepare<[string], string>(
        "SELECT id FROM jobs WHERE kind IN (SELECT value FROM json_each(?)) AND state = 'RUNNING' ORDER BY sequence",
      )
      .pluck();
    this.#waiting = db.prepare<[], { id: string }>(
      "SELECT id FROM jobs WHERE replicas_due > 0 AND waiting_for IS NOT NULL LIMIT 1",
    );
    this.#of = db.prepare<[string], ReplicaRow>(
      `SELECT members.id, members.state, members.desired, members.is_ready, nodes.state = 'SUSPECT' AS is_suspect, nodes.is_cordoned,
         EXISTS (SELECT 1 FROM preemptions WHERE victim_job = attempts.job_id AND victim_attempt = attempts.id) AS makes_way,
         members.wish_order, members.wishes_sleep, members.standing, members.standing_order,
         coalesce(workers.kind = 'cpu' AND nodes.agent_protocol >= ${STANDING_SINCE} AND nodes.agent_protocol_at = nodes.registered_at, 0) AS can_sleep
       FROM attempts JOIN members ON members.attempt_id = attempts.id JOIN nodes ON nodes.id = members.node_id
       LEFT JOIN workers ON workers.id = members.worker_id
       WHERE attempts.job_id = ? AND attempts.is_replica = 1 AND attempts.ended_at IS NULL ORDER BY attempts.number`,
    );
  }

  /** Jobs of the kind that run. */
  running(kind: string): string[] {
    return this.#running.all(JSON.stringify(storedKindsOf(kind)));
  }

  /** Those that have not let go. */
  of(jobId: string): { due: number; replicas: ReplicaRow[] } {
    const due = this.#tables.jobs.get(jobId)?.replicas_due ?? 0;
    return { due, replicas: this.#of.all(jobId) };
  }

  /** Inside a transaction: so many wait for a worker, no more and no fewer. */
  setDue(jobId: string, due: number): void {
    this.#transitions.setGangsDue(jobId, due);
  }

  /** Inside a transaction: nobody is to call the job any more, and it ends. */
  end(jobId: string, reason: "replaced"): void {
    this.#transitions.moveJob(jobId, "stop", { reason });
    this.#transitions.reconcile(jobId);
  }

  /** Inside a transaction: its payload stops where it is, or goes on. */
  requestSleep(memberId: string, isAsleep: boolean): void {
    const { members, commands, placementSignal } = this.#tables;
    const member = members.get(memberId);
    if (member === undefined || member.state !== "RUNNING" || member.desired === "stop") return;
    members.note(memberId, {
      wish_order: member.wish_order + 1,
      wishes_sleep: isAsleep ? 1 : 0,
    });
    commands.desiredChanged(member.node_id);
    if (isAsleep) placementSignal.raise("worker-free");
  }

  /** A replica waits for a worker. Of jobs that wait each takes the worker of a sleeper by itself. */
  isRoomWanted(): boolean {
    return this.#waiting.get() !== undefined;
  }

  /** Inside a transaction: told to end in its own time. */
  stop(memberId: string): void {
    const member = this.#tables.members.get(memberId);
    if (member === undefined) return;
    const { job_id: job, attempt_id: attempt } = member;
    const makesWay = this.#tables.preemptions.isVictim({ job, attempt });
    this.#transitions.stopMember(member, makesWay ? "preempted" : "attempt_ended");
    this.#transitions.reconcile(member.job_id);
  }
}
