/** Where a job finds and leaves things, on every substrate; contracts/src/agent/runner.ts has the whole list. */
export const JOB_PATHS = {
  /** What PID 1 and the payload print. */
  output: "/rt/events/output.log",
  /** What the payload tells, a line an event. */
  events: "/rt/events/events.jsonl",
  out: "/app/out",
} as const;
