/** A row of the table of harms: what is done beneath a recorded job, and what must hold once the job has ended. */
import type { RecordedJobOptions } from "@resontech/house/recorded-job";
import type { Instance } from "../judge/record.ts";

/** How a recorded job ended: by the API, by its own record, and by the processes of the host. */
export type JobEnd = {
  state: string;
  /** The last one's number, as the API tells it. */
  attempt: number;
  /** How many the database has. */
  attempts: number;
  /** The round from which the last attempt went on; 0 where it began anew. */
  resumedAt: number;
  /** From its submission. */
  seconds: number;
  instances: Instance[];
  /** Empty where nobody watched the host's processes. */
  doubles: string[];
  overlaps: string[];
  wrongModels: string[];
};

/** @typeParam Seen what this harm alone looks at */
export type Harm<Seen extends object> = {
  /** Its job's, too. */
  name: string;
  job: RecordedJobOptions;
  /** Waits until the job may be submitted. */
  ready?: () => Promise<void>;
  /**
   * Waits for the moment, does it, and undoes it.
   * @param job the id of one that was accepted just now
   * @param toItsEnd waits for the job's end; whoever looks at nothing afterwards need not call it
   */
  happen: (job: string, toItsEnd: () => Promise<JobEnd>) => Promise<Seen>;
  /** What must hold besides that the job came through whole. */
  holds: (end: JobEnd, seen: Seen) => boolean;
  /** One line of progress. */
  tell: (end: JobEnd, seen: Seen) => string;
};

/** What became of a job that was harmed. */
export type Harmed<Seen> = { end: JobEnd; seen: Seen; isGood: boolean };

/** Whatever was done: the job is finished, no place ever had two members, and no round trained on another model than its own. */
export function isWhole({ state, doubles, overlaps, wrongModels }: JobEnd): boolean {
  return (
    state === "FINISHED" &&
    doubles.length === 0 &&
    overlaps.length === 0 &&
    wrongModels.length === 0
  );
}
