import type { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import type { Replica } from "./dial-replica.ts";
import type { ReplicaPool } from "./replica-pool.ts";

/** A call waits so long for a replica that has as many as it takes. */
const QUEUE_MS = 2_000;
const QUEUE_LOOK_MS = 20;

/** A replica that is held until it is released; null where none was free in time, or the client hung up. */
export async function freeReplica(
  pool: ReplicaPool,
  route: Route,
  response: Pick<Writable, "destroyed">,
): Promise<Replica | null> {
  for (const until = performance.now() + QUEUE_MS; ; ) {
    const replica = response.destroyed ? null : pool.acquire(route);
    if (replica !== null || performance.now() > until || response.destroyed) return replica;
    await sleep(QUEUE_LOOK_MS);
  }
}
