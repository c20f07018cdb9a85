import { setTimeout as sleep } from "node:timers/promises";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { InvalidArgumentError } from "commander";
import { type NextStep, type NodeLeaving, whatNext } from "./decisions/node-leaving.ts";

export type RemoveOptions = { now: boolean; force: boolean; wait: number };
export const DEFAULT_WAIT_S = 86_400;
const MAX_WAIT_S = 604_800;
const LOOK_MS = 1_000;

/** The node is still there; `message` says what it waits for. */
export class NodeNotRemovedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** @throws InvalidArgumentError */
export function waitSeconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_WAIT_S)
    throw new InvalidArgumentError(`seconds from 1 to ${MAX_WAIT_S} are meant`);
  return value;
}

/**
 * Drains the node, waits until it holds nothing, and takes it out of the register. Broken off, it stays drained, and the same command goes on.
 *
 * @param home the appliance's own node, which can't leave
 * @throws NodeNotRemovedError
 */
export async function removeNode(
  { ask, tell, home }: { ask: AskOperator; tell: (line: string) => void; home: string | null },
  node: string,
  { now, force, wait }: RemoveOptions,
): Promise<{ node: string; wasSilent: boolean }> {
  if (node === home)
    throw new NodeNotRemovedError(
      "node_is_home",
      `${node} is the appliance's own host`,
      "`appliance node drain NODE` keeps it free of work",
    );
  // One that does not answer is not drained for a removal that is refused.
  requireLeaving(node, whatNext(await lookAt(ask, node), force));
  await ask(now ? "node-evict" : "node-drain", { id: node });
  tell(`${node} takes no new work`);
  let shown = "";
  for (const from = Date.now(); ; await sleep(LOOK_MS)) {
    const leaving = await lookAt(ask, node);
    const next = whatNext(leaving, force);
    if (next.do === "remove") {
      await ask("node-remove", { id: node });
      return { node, wasSilent: leaving.state === "DEAD" };
    }
    requireLeaving(node, next);
    if (next.why !== shown) tell(`waiting: ${next.why}`);
    shown = next.why;
    if (Date.now() - from > wait * 1_000)
      throw new NodeNotRemovedError(
        "node_busy",
        `${node} is drained, but after ${wait} s: ${next.why}`,
        "run the same command again, with --now to let its jobs go on elsewhere",
      );
  }
}

/** @throws NodeNotRemovedError `node_silent` */
function requireLeaving(
  node: string,
  next: NextStep,
): asserts next is Exclude<NextStep, { do: "refuse" }> {
  if (next.do === "refuse")
    throw new NodeNotRemovedError("node_silent", `${node} ${next.why}`, next.todo);
}

async function lookAt(ask: AskOperator, node: string): Promise<NodeLeaving> {
  const { node: shown, members } = await ask("node-show", { id: node });
  return {
    state: shown.state,
    silentS: shown.silentS,
    members: members.map(({ job, state }) => ({ job, state })),
  };
}
