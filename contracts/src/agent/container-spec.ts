/** Between the coordinator and PID 1's helper beside a program of somebody else's (parts/agent/init/attend.go): `/rt/job/container.json`, written by the agent. */
import { PREDICT_MS } from "./predictor-spec.ts";

export const CONTAINER_SPEC = "container.json";
/** Payload of `/rt/init`: the same binary once more. */
export const CONTAINER_COMMAND = ["/rt/init", "-attend", `/rt/job/${CONTAINER_SPEC}`] as const;
/** Where calls come into the container, whatever its program listens on. Beyond what Linux gives out by itself. */
export const CONTAINER_DOOR = 64_080;
/** Of one call without a byte of an answer. A program that answers nothing for longer, its health neither, hangs. */
export const CONTAINER_SILENT_MS = PREDICT_MS;

export type ContainerSpec = {
  formatVersion: 1;
  /** The program, looked for in its `PATH`, and its arguments. */
  command: string[];
  /** Where it starts, absolute. */
  directory: string;
  /** {@link CONTAINER_DOOR} */
  door: number;
  /** Where the program listens: on 127.0.0.1, or on every address. */
  port: number;
  /** A path that answers 200 to 299 once the program can take calls, and as long as it can. */
  health: string;
  callLimitMs: number;
};
