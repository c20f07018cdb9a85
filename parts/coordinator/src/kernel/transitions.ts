/**
 * The only code that moves jobs and members. One call is part of one savepoint: compare-and-set on (id, version, state), a row of
 * the journal, the audit record, commands for agents and object store. What finds its row elsewhere is stale and changes nothing.
 */
import type { JobReason } from "@resontech/contracts/job-reasons";
import { isTerminal } from "@resontech/contracts/job-states";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import { COMMIT_SINCE } from "@resontech/contracts/agent-protocol";
import type { GateProof } from "../audit-ports.ts";
import { DEADLINES, jobDeadline, memberDeadline } from "./decisions/deadlines.ts";
import { judgeOrder } from "./decisions/job-order.ts";
import { type JobEffect, type JobEvent, stepJob } from "./decisions/job-machine.ts";
import {
  type AttemptFacts,
  isQuiet,
  evaluateAttempt,
  isCommitOver,
  stoppedEvent,
  vacanciesOf,
} from "./decisions/evaluate-attempt.ts";
import {
  isMemberOver,
  mayMemberWrite,
  type MemberEffect,
  type MemberMachineEvent,
  stepMember,
} from "./decisions/member-machine.ts";
import { waitsForArray } from "./decisions/waits-for-array.ts";
import { type ReasonWords, reasonWords } from "./decisions/reasons.ts";
import { capacityBytes, type MemberResources } from "./decisions/resources.ts";
import { evaluateRetry } from "./decisions/retry.ts";
import type { JobChange } from "./job-table.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { MemberChange } from "./member-table.ts";
import type { JobRow, MemberRow } from "./rows.ts";
import { reasonWordsOf } from "./workload.ts";

/** What transitions ask of their surroundings. */
export type TransitionPorts = {
  /** Memory of the largest node that takes work; 0 while there is none. */
  largestNodeBytes: () => number;
  /** A worker left the pool, or a lead's remains are unproven; an operator must look. */
  onQuarantine: (member: string, workers: readonly string[]) => void;
  /** Inside a transaction, which may be rolled back: of these jobs, which ended, some followers have not heard yet. */
  onEndsLeft: (jobs: readonly string[]) => void;
};

export type JobMove = {
  reason?: JobReason;
  /** In place of the reason's own words. */
  message?: string;
  /** Member whose failure it was. */
  blame?: string;
  /** The request that this carries out. */
  gate?: GateProof;
  /** Makes the attempt of `place`. */
  createAttempt?: (job: JobRow) => void;
};

/** Whoever follows the log of a member has read its end by then, from the parts that are known. */
const MERGE_AFTER_MS = 5_000;
/** An agent that gave up its lease so soon after our start did so because we were not there. */
const OWN_OUTAGE_MS = 120_000;

/** So many followers hear of an end in its own transaction: others wait for it, and a chain of jobs may be long. */
const FOLLOWERS_AT_ONCE = 32;

/** More steps than any chain of consequences has. */
const RECONCILE_LIMIT = 16;

export class Transitions {
  readonly #tables: KernelTables;
  readonly #ports: TransitionPorts;
  readonly #startedAt: number;
  /** Jobs that ended in this transaction, and whose followers have not heard of it. */
  readonly #ends: string[] = [];
  #isFollowing = false;

  constructor(tables: KernelTables, ports: TransitionPorts) {
    this.#tables = tables;
    this.#ports = ports;
    this.#startedAt = tables.clock.monotonic();
  }

  /** Of a workload whose lead says so itself; of any other nothing happens. */
  startWhenReady(jobId: string): void {
    const { jobs, workloads } = this.#tables;
    const job = jobs.get(jobId);
    if (job !== undefined && workloads.has(job.kind) && workloads.of(job).startsWhenReady)
      this.moveJob(jobId, "start");
  }

  /** Moves the job and carries out the effects on its rows; false when the event is stale. */
  moveJob(jobId: string, event: JobEvent, move: JobMove = {}): boolean {
    const { clock, jobs, records, checkpoints, commands, outputs } = this.#tables;
    const job = jobs.get(jobId);
    const step = job === undefined ? null : stepJob(job.state, event);
    if (job === undefined || step === null) return false;
    const now = clock.now();
    const change = this.#consequences(job, event, move);
    if (step.to === "RUNNING") {
      change.started_at = job.started_at ?? now;
      // The limit is of the time that it runs, over all attempts: what waits for workers again loses none of it.
      if (job.time_limit_ms !== null) change.expires_at = now + job.time_limit_ms - job.ran_ms;
    } else if (job.state === "RUNNING" || job.state === "PREEMPTING") {
      change.ran_ms = job.ran_ms + now - job.state_since;
      const waitsAgain = step.to === "QUEUED" || step.to === "RECOVERING";
      if (waitsAgain && job.time_limit_ms !== null) change.expires_at = null;
    }
    change.deadline_at = jobDeadline(step.to, {
      now,
      stateSince: now,
      bytes: jobs.bytesToStage(jobId),
      expiresAt: change.expires_at === undefined ? job.expires_at : change.expires_at,
    });
    if (isTerminal(step.to)) {
      change.ended_at = now;
      // What ended waits for nothing, and says why it ended.
      change.waiting_for = null;
    }
    if (!jobs.move(job, step.to, now, change)) return false;

    if (step.effects.includes("create-attempt")) {
      // Its first attempt: what an earlier job left under this name would lie beside its own.
      if (job.attempts_made === 0)
        for (const upload of outputs.ofEarlierJobs(job)) commands.hideOutput(upload);
      move.createAttempt?.(job);
    }
    const attempts = jobs.liveAttempts(jobId);
    const attempt = attempts[0];
    const reason = change.reason === undefined ? job.reason : change.reason;
    jobs.journal({
      jobId,
      memberId: null,
      attemptId: attempt?.id ?? null,
      from: job.state,
      to: step.to,
      event,
      reason,
      generation: null,
      counter: null,
      at: now,
    });
    records.job(job, job.state, step.to, {
      reason,
      attempt,
      because: this.#becauseOf(jobId, reason),
    });
    for (const effect of step.effects)
      this.#onJob(
        effect,
        jobId,
        attempts.map(({ id }) => id),
        reason,
        move.gate ?? null,
      );
    if (isTerminal(step.to)) {
      const kept = step.to === "SUCCEEDED" ? null : this.#keepLastModel(job);
      for (const upload of checkpoints.forgetAll(jobId))
        if (upload !== kept) commands.removeVersion(upload);
      this.#ends.push(jobId);
      this.#followEnds();
    }
    return true;
  }

  /** Jobs that an older release ended, or whose rows went, while others waited for them, or for room in their array. Inside a transaction. */
  followMissedEnds(): void {
    const { arrays, order } = this.#tables;
    for (const held of arrays.held())
      for (const job of arrays.nextBeside(held)) this.#heedOrder(job);
    this.followEnds(
      order
        .awaited()
        .filter(({ state }) => state === null || isTerminal(state))
        .map(({ job }) => job),
    );
  }

  /** Whoever follows one of these hears of its end, or the next transaction is asked to go on. One that has not ended is left alone. Inside a transaction. */
  followEnds(ended: readonly string[]): void {
    const { jobs } = this.#tables;
    for (const id of ended) {
      const job = jobs.get(id);
      if (job === undefined || isTerminal(job.state)) this.#ends.push(id);
    }
    this.#followEnds();
  }

  /** One after another: each end may be another job's. */
  #followEnds(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    let room = FOLLOWERS_AT_ONCE;
    let at = 0;
    try {
      for (; at < this.#ends.length && room > 0; at += 1)
        room -= this.#followEnd(this.#ends[at]!, room);
      // Of the last one some may be left.
      if (room === 0) this.#ports.onEndsLeft(this.#ends.slice(at - 1));
    } finally {
      this.#ends.length = 0;
      this.#isFollowing = false;
    }
  }

  /** @returns how many heard of it */
  #followEnd(ended: string, most: number): number {
    const { jobs, order } = this.#tables;
    const followers = order.settle(ended, jobs.get(ended)?.state ?? "gone", most);
    for (const follower of followers) this.#heedOrder(follower);
    const next = this.#tables.arrays.nextBeside(ended);
    for (const job of next) this.#heedOrder(job);
    return followers.length + next.length;
  }

  /** What waits for other jobs, or for room in its array, is queued, goes on waiting, or ends with the one that failed. */
  #heedOrder(jobId: string): void {
    const { arrays, changes, jobs, meta, order } = this.#tables;
    const job = jobs.get(jobId);
    if (job === undefined || isTerminal(job.state)) return;
    const verdict = judgeOrder(order.of(jobId));
    if (verdict.kind === "broken") {
      const { message } = verdict;
      this.moveJob(jobId, "stop", { reason: "dependency_failed", message });
      return;
    }
    // With a reason it waits for a person, whatever became of the others.
    if (job.state !== "HELD" || job.reason !== null) return;
    const bound = arrays.boundOf(jobId);
    const why =
      verdict.kind === "waits"
        ? verdict.why
        : bound?.atOnce == null || arrays.hasRoom(bound)
          ? null
          : waitsForArray(bound.atOnce);
    if (why === null) {
      jobs.note(jobId, { line: meta.next("job-sequence"), waiting_for: null });
      this.moveJob(jobId, "unhold");
    } else {
      jobs.note(jobId, { waiting_for: why });
      changes.note({ kind: "waiting", job: jobId, why });
    }
  }

  /** The job whose end is the reason for this one's. */
  #becauseOf(jobId: string, reason: JobReason | null): string | undefined {
    if (reason !== "dependency_failed") return undefined;
    const verdict = judgeOrder(this.#tables.order.of(jobId));
    return verdict.kind === "broken" ? verdict.by.job : undefined;
  }

  /** Whatever ended the job, its newest committed model stays, unless the last one is stored already. @returns the upload that it came by */
  #keepLastModel(job: JobRow): string | null {
    const { checkpoints, lastModels, outputs } = this.#tables;
    const [newest] = checkpoints.ofJob(job.id);
    if (newest === undefined || outputs.isKept(job.id, `${job.output_root}/${MODEL_CHECKPOINT}`))
      return null;
    lastModels.keep(job.id, newest.round, newest.modelUpload);
    return newest.modelUpload;
  }

  /** Moves the member and carries out the effects; false when the event is stale. `change` is written either way it can. */
  moveMember(memberId: string, event: MemberMachineEvent, change: MemberChange = {}): boolean {
    const { clock, jobs, logMerges, members, records } = this.#tables;
    const member = members.get(memberId);
    const step = member === undefined ? null : stepMember(member.state, event);
    if (member === undefined || step === null) return false;
    const now = clock.now();
    if (!members.move(member, step.to, now, change)) return false;
    for (const effect of step.effects) this.#onMember(effect, member);
    const moved = members.get(memberId)!;
    members.note(memberId, { deadline_at: this.#memberDeadline(moved) });
    jobs.journal({
      jobId: member.job_id,
      memberId,
      attemptId: member.attempt_id,
      from: member.state,
      to: step.to,
      event,
      reason: moved.reason,
      generation: moved.generation,
      counter: moved.counter,
      at: now,
    });
    if (isMemberOver(step.to)) logMerges.expect(memberId, now + MERGE_AFTER_MS);
    const job = jobs.get(member.job_id);
    if (job !== undefined) records.member(moved, member.state, job, moved.reason);
    return true;
  }

  /** Withdraws the member's authority without its help, or lets it go when its node never heard of it. */
  revoke(memberId: string, change: MemberChange = {}): void {
    if (this.#tables.members.get(memberId)?.state === "LEASED") {
      this.moveMember(memberId, "release", change);
      return;
    }
    if (this.moveMember(memberId, "lose", change)) this.moveMember(memberId, "fence");
  }

  /** A member fenced by an older generation proves its release under one of this generation. */
  renewFence(memberId: string): void {
    const { clock, meta, members, commands } = this.#tables;
    const member = members.get(memberId);
    const generation = meta.number("generation");
    if (member?.state !== "FENCED" || member.generation === generation) return;
    members.replaceFence(member, { generation, counter: member.counter + 1 }, clock.now());
    commands.desiredChanged(member.node_id);
  }

  /** Asks what the members' states mean for the job, and does it, until nothing follows any more. */
  reconcile(jobId: string): void {
    if (this.#outlivesAttempts(this.#tables.jobs.get(jobId))) return this.#endQuietAttempts(jobId);
    for (let step = 0; step < RECONCILE_LIMIT; step++) {
      const facts = this.#attemptFacts(jobId);
      const verdict = facts === null ? null : evaluateAttempt(facts);
      if (verdict !== null) {
        if (!this.moveJob(jobId, verdict.event, verdict)) return;
      } else if (facts?.state !== "PREEMPTING" || !isCommitOver(facts) || !this.#stopNow(jobId))
        return;
    }
    throw new Error(`job ${jobId} does not settle`);
  }

  /** Whoever makes way and goes on so far is told to stop. False when all were told. */
  #stopNow(jobId: string): boolean {
    const { clock, jobs, members } = this.#tables;
    const going = jobs
      .liveAttempts(jobId)
      .flatMap(({ id }) => members.ofAttempt(id))
      .filter(({ desired, state }) => desired === "run" && !isMemberOver(state));
    if (going.length === 0) return false;
    for (const member of going) this.stopMember(member, "preempted");
    jobs.setDeadline(jobId, clock.now() + DEADLINES.stoppingMs);
    return true;
  }

  /** So many gangs are to be placed beside those that the job has, no more and no fewer; nothing of one that does not run. */
  setGangsDue(jobId: string, due: number): void {
    const { jobs, placementSignal } = this.#tables;
    const job = jobs.get(jobId);
    if (job?.state !== "RUNNING" || job.replicas_due === due) return;
    jobs.note(jobId, { replicas_due: due, waiting_for: due === 0 ? null : job.waiting_for });
    if (due > 0) placementSignal.raise("gang-due");
  }

  #outlivesAttempts(job: JobRow | undefined): boolean {
    const { workloads } = this.#tables;
    return job !== undefined && workloads.has(job.kind) && workloads.of(job).outlivesAttempts(job);
  }

  /** Of a job that outlives its attempts: one whose members have all let go is over, and the job runs on. */
  #endQuietAttempts(jobId: string): void {
    const { clock, jobs, members } = this.#tables;
    for (const { id } of jobs.liveAttempts(jobId)) {
      const all = members.ofAttempt(id);
      const isOver = all.every(({ state, node_id }) =>
        isQuiet({ state, isNodeAlive: members.isNodeAlive(node_id) }),
      );
      const { reason, stop_reason } = all[0] ?? { reason: null, stop_reason: null };
      if (isOver) jobs.endAttempt(id, clock.now(), reason ?? stop_reason);
    }
  }

  /** Whether the job ran before the member came, and whether its payload has yet to be ready. */
  standingOf(member: MemberRow): { joinsRunning: boolean; isWarming: boolean } {
    // Its own attempt does not speak for the job, nor the job's state for it.
    const isByItself = this.#outlivesAttempts(this.#tables.jobs.get(member.job_id));
    return {
      joinsRunning: member.replaces !== null || isByItself,
      isWarming: isByItself && member.is_ready === 0,
    };
  }

  /** Places of lost clients that others may take, with what each taking would spend of the job's budgets. */
  vacancies(jobId: string): { member: MemberRow; spending: JobChange }[] {
    const { jobs, members } = this.#tables;
    const facts = this.#attemptFacts(jobId);
    const job = jobs.get(jobId);
    if (facts === null || job === undefined) return [];
    return vacanciesOf(facts).flatMap(({ member: id, reason }) => {
      const member = members.get(id)!;
      const spending = this.#spendRetry(job, reason, member);
      // A budget that is spent ends no job that its quorum carries.
      return spending.desired === "stop" ? [] : [{ member, spending }];
    });
  }

  /** Its time to start counts from now. */
  startDeadline(memberId: string): void {
    const { members } = this.#tables;
    members.note(memberId, { deadline_at: this.#memberDeadline(members.get(memberId)!) });
  }

  /** RECOVERING, PREEMPTING or STOPPING has waited long enough. */
  endWait(jobId: string): void {
    const job = this.#tables.jobs.get(jobId);
    if (job === undefined) return;
    if (job.state === "STOPPING") this.moveJob(jobId, stoppedEvent(job.reason));
    if (job.state === "RECOVERING")
      this.moveJob(jobId, job.desired === "run" ? "requeue" : "give-up");
    if (job.state === "PREEMPTING" && !this.#stopNow(jobId)) this.moveJob(jobId, "vacate");
  }

  /** A sign of progress: deadlines that count from the last one move. */
  progress(member: MemberRow): void {
    const { clock, jobs, members, outputs } = this.#tables;
    const now = clock.now();
    members.note(member.id, { progress_at: now, deadline_at: this.#memberDeadline(member) });
    const job = jobs.get(member.job_id);
    if (
      job === undefined ||
      (job.state !== "PROVISIONING" && job.state !== "STAGING" && job.state !== "FINALIZING")
    )
      return;
    const bytes =
      job.state === "FINALIZING" ? outputs.bytesOfJob(job.id) : jobs.bytesToStage(job.id);
    jobs.setDeadline(
      job.id,
      jobDeadline(job.state, {
        now,
        stateSince: job.state_since,
        bytes,
        expiresAt: job.expires_at,
      }),
    );
  }

  /** Sets `desired: stop` on one member and tells its node. */
  stopMember(member: MemberRow, reason: JobReason, gate: GateProof | null = null): void {
    const { members, commands } = this.#tables;
    if (isMemberOver(member.state) || member.state === "LOST" || member.state === "FENCED") return;
    if (member.state === "LEASED") {
      // Its node was never told of it: there is nothing to stop.
      this.moveMember(member.id, "release", { desired: "stop", stop_reason: reason });
      commands.desiredChanged(member.node_id, gate);
      return;
    }
    const stopped: MemberRow = {
      ...member,
      desired: "stop",
      stop_reason: member.stop_reason ?? reason,
    };
    members.note(member.id, {
      desired: "stop",
      stop_reason: stopped.stop_reason,
      deadline_at: this.#memberDeadline(stopped),
    });
    commands.desiredChanged(member.node_id, gate);
  }

  #consequences(job: JobRow, event: JobEvent, { reason, message, blame }: JobMove): JobChange {
    const blamed = blame === undefined ? undefined : this.#tables.members.get(blame);
    const because =
      reason === undefined
        ? {}
        : {
            reason,
            message: message ?? (blamed?.message || this.#words(job, reason).message),
            detail: blamed?.detail ?? null,
            blamed_member:
              blamed === undefined ? null : (blamed.failed_site ?? blamed.site ?? blamed.role),
          };
    switch (event) {
      case "stop":
        return { ...because, desired: "stop" };
      case "fault":
        return { ...because, ...this.#spendRetry(job, reason ?? "agent_fault", blamed) };
      case "reject":
      case "hold":
        return because;
      case "place":
        return { attempts_made: job.attempts_made + 1, failed_binds: 0, waiting_for: null };
      case "requeue":
      case "vacate":
      case "unhold":
      case "start":
        return { reason: null, message: null, detail: null, blamed_member: null };
      case "enqueue":
      case "claim":
      case "stage":
      case "finish":
      case "store":
      case "give-up":
      case "preempt":
      case "stopped-cancelled":
      case "stopped-failed":
      case "stopped-expired":
        return {};
    }
  }

  #words(job: JobRow, reason: JobReason): ReasonWords {
    return reasonWords(reason, reasonWordsOf(this.#tables.workloads, job));
  }

  #spendRetry(job: JobRow, reason: JobReason, blamed: MemberRow | undefined): JobChange {
    const { clock } = this.#tables;
    const isOurs = reason === "lease_lost" && clock.monotonic() - this.#startedAt < OWN_OUTAGE_MS;
    const spent = {
      infrastructure: job.retries_infrastructure,
      lease_lost: job.retries_lease_lost,
      out_of_memory: job.retries_out_of_memory,
    };
    const { again, spends } = evaluateRetry(reason, spent, isOurs);
    const grown = blamed?.is_lead === 1 ? this.#regrow(job, blamed, reason, again) : null;
    if (grown?.again === false) return { desired: "stop", message: grown.message };
    if (!again) return { desired: "stop" };
    const avoid = new Set(JSON.parse(job.avoid_nodes) as string[]);
    if (spends === "infrastructure" && blamed !== undefined) avoid.add(blamed.node_id);
    const change: JobChange = { avoid_nodes: JSON.stringify([...avoid]) };
    if (spends === "infrastructure") change.retries_infrastructure = job.retries_infrastructure + 1;
    if (spends === "lease_lost") change.retries_lease_lost = job.retries_lease_lost + 1;
    if (grown !== null) change.server_memory_bytes = grown.bytes;
    if (spends === "out_of_memory") change.retries_out_of_memory = job.retries_out_of_memory + 1;
    return change;
  }

  #regrow(job: JobRow, lead: MemberRow, reason: JobReason, mayRetry: boolean) {
    const { workloads } = this.#tables;
    if (!workloads.has(job.kind)) return null;
    const resources = JSON.parse(lead.resources) as MemberResources;
    return workloads
      .of(job)
      .regrow(resources, reason, mayRetry, capacityBytes(this.#ports.largestNodeBytes()));
  }

  #onJob(
    effect: JobEffect,
    jobId: string,
    attempts: readonly string[],
    reason: JobReason | null,
    gate: GateProof | null,
  ): void {
    const { clock, jobs, members, placementSignal } = this.#tables;
    const all = attempts.flatMap((attempt) => members.ofAttempt(attempt));
    switch (effect) {
      case "create-attempt":
        return;
      case "place-soon":
        placementSignal.raise("job-waits");
        return;
      case "stop-members":
        for (const member of all) this.stopMember(member, reason ?? "attempt_ended", gate);
        // Nobody to wait for: what waited, and what was only leased, ends in the same transaction.
        this.reconcile(jobId);
        return;
      case "commit-first":
        return this.#commitFirst(jobId, all);
      case "stop-others":
        for (const member of all)
          if (member.is_lead === 0) this.stopMember(member, "attempt_ended");
        return;
      case "end-attempt":
        for (const { id, state } of all) if (mayMemberWrite(state)) this.revoke(id);
        break;
      case "close-attempt":
        for (const { id, is_lead, state } of all)
          if (is_lead === 1 && mayMemberWrite(state)) this.revoke(id);
        break;
    }
    for (const attempt of attempts) jobs.endAttempt(attempt, clock.now(), reason);
  }

  /** Who is to commit is told so by the state of its job (desired-set.ts): nothing of it is kept but the rows as they are. */
  #commitFirst(jobId: string, all: readonly MemberRow[]): void {
    const { commands, jobs, members, workloads } = this.#tables;
    const job = jobs.get(jobId)!;
    const lead = all.find(({ is_lead }) => is_lead === 1);
    const isAsked =
      lead?.state === "RUNNING" &&
      lead.desired === "run" &&
      workloads.has(job.kind) &&
      workloads.of(job).canCommit(job) &&
      members.isNodeAlive(lead.node_id) &&
      members.nodeSpeaks(lead.node_id, COMMIT_SINCE);
    if (isAsked) commands.desiredChanged(lead.node_id);
    else for (const member of all) this.stopMember(member, "preempted");
    this.reconcile(jobId);
  }

  #onMember(effect: MemberEffect, member: MemberRow): void {
    const { bridges, changes, clock, meta, members, commands, placementSignal, preemptions } =
      this.#tables;
    const { attempt_id: attempt, job_id: job } = member;
    const now = clock.now();
    switch (effect) {
      case "begin-use":
        members.beginUse(member.id, now);
        return;
      case "end-use": {
        members.endUse(member.id, now);
        // The agent of its server's node lets it through no longer.
        const home = bridges.homeOf(member);
        if (home !== null) commands.desiredChanged(home);
        return;
      }
      case "revoke-fence": {
        members.replaceFence(
          member,
          { generation: meta.number("generation"), counter: member.counter + 1 },
          now,
        );
        members.note(member.id, {
          desired: "stop",
          stop_reason: member.stop_reason ?? member.reason ?? "attempt_ended",
        });
        this.#abortUploads(member.id);
        commands.desiredChanged(member.node_id);
        return;
      }
      case "free-worker":
        members.releaseWorkers(member.id, now);
        preemptions.noteFreed({ job, attempt }, now);
        this.#abortUploads(member.id);
        commands.desiredChanged(member.node_id);
        placementSignal.raise("worker-free");
        return;
      case "quarantine-worker": {
        const reason = member.state === "RELEASING" ? "release_timeout" : "devices_not_free";
        const held = members.workersOf(member.id);
        // Its proof is of all that it held together: none of them is known to be free.
        for (const worker of held) {
          members.quarantineWorker(worker, reason);
          changes.note({ kind: "worker-quarantined", node: member.node_id, worker, reason });
        }
        members.releaseWorkers(member.id, now);
        preemptions.noteFreed({ job, attempt }, now);
        this.#abortUploads(member.id);
        commands.desiredChanged(member.node_id);
        this.#ports.onQuarantine(member.id, held);
        return;
      }
    }
  }

  /** URLs of a member without authority die. */
  #abortUploads(memberId: string): void {
    const { clock, members, commands } = this.#tables;
    for (const upload of members.abortUploads(memberId, clock.now())) commands.abortUpload(upload);
  }

  #memberDeadline(member: MemberRow): number | null {
    const { clock, members } = this.#tables;
    const { joinsRunning, isWarming } = this.standingOf(member);
    return memberDeadline(member.state, {
      now: clock.now(),
      stateSince: member.state_since,
      bytes: member.state === "DRAINING" ? members.bytesToUpload(member.id) : 0,
      desired: member.desired,
      isNodeAlive: members.isNodeAlive(member.node_id),
      isReplacement: joinsRunning,
      isWarming,
    });
  }

  #attemptFacts(jobId: string): AttemptFacts | null {
    const { jobs, members, outputs, workloads } = this.#tables;
    const job = jobs.get(jobId);
    if (job === undefined || isTerminal(job.state)) return null;
    const workload = workloads.has(job.kind) ? workloads.of(job) : null;
    // What a newer release began waits for that release to judge it; whoever stops it needs no judgement.
    if (workload === null && job.state !== "STOPPING") return null;
    const rows = jobs.liveAttempts(jobId).flatMap(({ id }) => members.ofAttempt(id));
    const lead = rows.find(({ is_lead }) => is_lead === 1);
    const replaced = new Set(rows.map(({ replaces }) => replaces));
    return {
      state: job.state,
      reason: job.reason,
      quorum: workload?.quorum(job) ?? 0,
      hasRequired:
        workload !== null &&
        lead !== undefined &&
        workload.requiredOutputs.every((key) => outputs.hasStored(job, lead, key)),
      startsWithMembers: workload?.startsWithMembers ?? false,
      mayRetry: job.desired === "run",
      members: rows.map((row) => ({
        id: row.id,
        isLead: row.is_lead === 1,
        state: row.state,
        desired: row.desired,
        hasProgress: row.progress_at !== null || row.is_staged === 1 || row.container !== null,
        isFinished: row.is_finished === 1,
        hasOutputs: row.has_outputs === 1,
        reason: row.reason,
        isNodeAlive: members.isNodeAlive(row.node_id),
        isReplaced: replaced.has(row.id),
      })),
    };
  }
}
