/**
 * Between the agent and a replica's program (parts/agent/runners/resontech_replica): `/rt/job/wish.json`, replaced as a whole by the agent, looked at many
 * times a second by the program. The event `standing` names the wish that it answers.
 */

/** Below `/rt/job`. */
export const REPLICA_SPEC = "wish.json";

export type ReplicaSpecFile = {
  formatVersion: 1;
  /** Another one with each wish. */
  order: number;
  /** The payload stops where it is, with what it has loaded; else it runs. */
  asleep: boolean;
};
