/** Jobs: what is asked of them, and each state that they and their members arrive in. */
import { Type } from "typebox";
import { Code, Count, Instant, PlainId, Sha256Hex } from "../audit-event.ts";
import { JOB_STATES, MEMBER_STATES } from "../../job/job-states.ts";
import {
  type CatalogueEntry,
  FACT,
  fact,
  NoDetail,
  operation,
  OPERATION_OR_FACT,
} from "./entry.ts";
import { closed } from "../../closed.ts";

const JobStateName = Type.Enum([...JOB_STATES]);
const MemberStateName = Type.Enum([...MEMBER_STATES]);

const JobTransition = Type.Object(
  {
    /** Null for the first state of a job. */
    from: Type.Union([JobStateName, Type.Null()]),
    to: JobStateName,
    reason: Type.Optional(Code),
    /** The job that did not succeed, of one that was to start after it. */
    because: Type.Optional(PlainId),
    attempt: Type.Optional(PlainId),
    attempt_no: Type.Optional(Count),
    generation: Type.Optional(Count),
    counter: Type.Optional(Count),
  },
  closed,
);

const transition = (meaning: string) =>
  ({
    phases: FACT,
    object: "job",
    meaning,
    detail: JobTransition,
    maxOpenMs: 0,
    whileDraining: true,
  }) as const;

export const JOB_EVENTS = {
  "job.submit": operation(
    "job",
    "A task was submitted.",
    Type.Object(
      {
        shards: Type.Optional(Count),
        inputs: Type.Optional(Count),
        input_bytes: Type.Optional(Count),
        key_in_script: Type.Optional(Type.Boolean()),
        /** How many jobs it is to start after. */
        after: Type.Optional(Count),
        /** The schedule whose run it is. */
        schedule: Type.Optional(PlainId),
        /** The array whose job it is, and its index there. */
        array: Type.Optional(PlainId),
        array_index: Type.Optional(Count),
        /** The pool of nodes that it named, by id or name. */
        pool: Type.Optional(PlainId),
        /** Class that was asked for; absent: that of its kind. */
        class: Type.Optional(Code),
        /** False: it asked to make way for nobody. */
        preemptible: Type.Optional(Type.Boolean()),
        /** Of weights that the platform itself stored. */
        model_sha256: Type.Optional(Sha256Hex),
      },
      closed,
    ),
    { whileDraining: false },
  ),
  "job.schedule": {
    ...operation(
      "project",
      "A schedule of jobs was made, paused, resumed or removed; as a fact: the appliance paused it, and `reason` says why.",
      Type.Object(
        {
          schedule: PlainId,
          change: Type.Enum(["made", "paused", "resumed", "removed"]),
          reason: Type.Optional(Code),
        },
        closed,
      ),
    ),
    phases: OPERATION_OR_FACT,
  },
  "job.schedule.skip": fact(
    "project",
    "A run of a schedule was due and made no job; `reason` says why.",
    Type.Object({ schedule: PlainId, reason: Code, due: Instant }, closed),
  ),
  "job.cancel": operation(
    "job",
    "A job was asked to stop; its end is a transition of its own.",
    NoDetail,
  ),
  "job.accepted": transition("The job's row was made."),
  "job.queued": transition("The job waits for workers."),
  "job.held": transition(
    "The job is in no line: it waits for other jobs, or for a person where `reason` says why.",
  ),
  "job.placed": transition("Workers were reserved for the whole gang."),
  "job.provisioning": transition("Containers and networks are being made."),
  "job.staging": transition("Inputs and images are being fetched."),
  "job.started": transition("The payload runs, all members present."),
  "job.preempting": transition("The job makes way for another."),
  "job.gang.preempting": fact(
    "job",
    "One replica of a deployment makes way for another job; `reason` says by which right, or that it slept.",
    Type.Object({ attempt: PlainId, reason: Type.Enum(["guarantee", "class", "asleep"]) }, closed),
  ),
  "job.recovering": transition("An infrastructure fault ended the attempt."),
  "job.finalizing": transition("The payload ended well; outputs are being stored."),
  "job.stopping": transition("The job is being stopped; `reason` says why."),
  "job.finished": transition("The job ended with its outputs stored."),
  "job.failed": transition("The job ended without success; `reason` says why."),
  "job.cancelled": transition("The job was stopped on request."),
  "job.expired": transition("The job ran out of its stated time."),
  "job.rejected": transition("Quota or policy refused the job."),
  "job.member": fact(
    "member",
    "One part of an attempt changed its state.",
    Type.Object(
      {
        job: PlainId,
        attempt: PlainId,
        role: Code,
        node: Type.Optional(PlainId),
        from: Type.Union([MemberStateName, Type.Null()]),
        to: MemberStateName,
        generation: Count,
        counter: Count,
        reason: Type.Optional(Code),
      },
      closed,
    ),
  ),
} as const satisfies Record<string, CatalogueEntry>;
