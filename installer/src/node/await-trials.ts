import { setTimeout as sleep } from "node:timers/promises";
import type { NodeRegistered, WorkerTrial } from "@resontech/contracts/agent-protocol";
import { say } from "../say.ts";
import { readRegistered } from "./read-registered.ts";

/** An image for accelerators has some gigabytes, which come over the network and are unpacked once. */
const LIMIT_MS = 1_800_000;
const LOOK_MS = 500;

/**
 * Waits until the agent has tried each worker, and says how each went. After half an hour it waits no more: what is still due is shown so.
 *
 * @param registered what the node told of itself @returns what it told last
 */
export async function awaitTrials(
  root: string,
  registered: NodeRegistered,
): Promise<NodeRegistered> {
  const said = new Set<string>();
  let told = registered;
  if (dueOf(told).length > 0)
    say("trying a container of a job image on this node; its image is fetched first");
  for (const from = Date.now(); ; await sleep(LOOK_MS)) {
    told = readRegistered(root) ?? told;
    for (const trial of told.trials ?? []) {
      const line = lineOf(trial);
      if (line === null || said.has(line)) continue;
      said.add(line);
      say(line);
    }
    if (dueOf(told).length === 0 || Date.now() - from > LIMIT_MS) return told;
  }
}

function dueOf({ trials = [] }: NodeRegistered): WorkerTrial[] {
  return trials.filter(({ state }) => state === "due");
}

function lineOf({ worker, state, why, image }: WorkerTrial): string | null {
  switch (state) {
    case "due":
      return null;
    case "passed":
      return `${worker}: a container of ${image?.split("@")[0] ?? ""} did its work`;
    case "failed":
      return `${worker}: its trial failed: ${why ?? ""}`;
    case "none":
      return `${worker}: the appliance has no job image for it; it is one ${why ?? ""}`;
  }
}
