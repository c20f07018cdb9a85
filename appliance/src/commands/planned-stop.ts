/** Stops that were meant: the leases of running work are made to outlive them. */
import { setTimeout as sleep } from "node:timers/promises";
import { ControlRefusedError, coordinatorAt } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";
import type { Operation } from "@resontech/frame/operation";
import type { Static, TSchema } from "typebox";
import {
  askSupervisor,
  listParts,
  startNamed,
  stopNamed,
  type SupervisorReply,
} from "../supervisor/control.ts";
import { isAlive, type PartState } from "../supervisor/decisions/plan.ts";

const ASK_TIMEOUT_MS = 15_000;

/** No supervisor, or no part of that name. */
export class PartsError extends Error {
  readonly code: "not_running" | "unknown_part" | "still_stopping";
  readonly hint: string;

  constructor(code: PartsError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/**
 * Lengthens every lease so that jobs run on for `forS` seconds without us; what could not be told is said and does not keep from stopping.
 *
 * @returns whether anything was announced, and must be ended afterwards
 */
export async function announceStop(
  { layout }: PartContext,
  forS: number,
  say: (line: string) => void,
): Promise<boolean> {
  try {
    const reply = await coordinatorAt(layout.run("coordinator", "control"), ASK_TIMEOUT_MS)(
      "maintenance",
      { forS },
    );
    say(`running jobs go on until ${reply.until ?? "now"}`);
    if (reply.untold.length > 0)
      say(`did not answer, their jobs end 30 s after the stop: ${reply.untold.join(", ")}`);
    return true;
  } catch (error) {
    if (error instanceof ControlRefusedError) throw error;
    say("the coordinator does not answer: running jobs end 30 s after the stop");
    return false;
  }
}

/** Leases are short again. */
export async function endStop({ layout }: PartContext): Promise<void> {
  await coordinatorAt(layout.run("coordinator", "control"), ASK_TIMEOUT_MS)("maintenance", {
    forS: 0,
  });
}

/** Does what stops parts and has them healthy again. A stop that could not be announced needs no end: leases are short all along. */
export async function duringPlannedStop(
  context: PartContext,
  forS: number,
  say: (line: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const isAnnounced = await announceStop(context, forS, say);
  await work();
  if (isAnnounced) await endStop(context);
}

/** Stops these parts alone and waits; they stay down until {@link startParts}. @throws PartsError */
export async function stopParts(
  context: PartContext,
  parts: readonly string[],
  timeoutMs: number,
): Promise<void> {
  await ask(context, stopNamed, { parts: [...parts] });
  for (const until = performance.now() + timeoutMs; performance.now() < until; await sleep(100)) {
    const reply = await ask(context, listParts, {});
    const alive = reply.parts.filter(
      ({ name, phase }) => parts.includes(name) && isAlive({ phase } as PartState),
    );
    if (alive.length === 0) return;
  }
  throw new PartsError(
    "still_stopping",
    `${parts.join(", ")} did not stop in ${timeoutMs / 1000} s`,
    "Look at `appliance status`.",
  );
}

/** @throws PartsError */
export async function startParts(context: PartContext, parts: readonly string[]): Promise<void> {
  await ask(context, startNamed, { parts: [...parts] });
}

/**
 * Starts every part that was stopped by name.
 *
 * @returns false when no supervisor runs
 */
export async function startHeldParts({ layout }: PartContext): Promise<boolean> {
  const socket = layout.supervisorSocket;
  const reply = await askSupervisor(socket, listParts, {});
  if (reply === null) return false;
  const parts = reply.parts.filter(({ isHeld }) => isHeld).map(({ name }) => name);
  return (await askSupervisor(socket, startNamed, { parts })) !== null;
}

/** @throws PartsError for a name that is no part of this appliance */
export async function requireParts(context: PartContext, parts: readonly string[]): Promise<void> {
  const known = (await ask(context, listParts, {})).parts.map(({ name }) => name);
  const unknown = parts.filter((part) => !known.includes(part));
  if (unknown.length > 0)
    throw new PartsError(
      "unknown_part",
      `there is no part ${unknown.join(", ")}`,
      `The parts are ${known.join(", ")}.`,
    );
}

async function ask<Request extends TSchema>(
  { layout }: PartContext,
  operation: Operation<Request, typeof listParts.reply>,
  request: Static<Request>,
): Promise<SupervisorReply> {
  const reply = await askSupervisor(layout.supervisorSocket, operation, request);
  if (reply === null)
    throw new PartsError(
      "not_running",
      "the appliance does not run",
      `Start it: appliance --root ${layout.root} start`,
    );
  return reply;
}
