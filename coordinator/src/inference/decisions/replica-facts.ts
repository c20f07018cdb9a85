/** Pure: what a member's row says of the replica that it is. */
import type { ReplicaRow } from "../../kernel/replicas.ts";
import type { ReplicaFact } from "./deployment.ts";

export function replicaFact(row: ReplicaRow): ReplicaFact {
  return { id: row.id, state: stateOf(row), isLeaving: row.is_cordoned === 1 };
}

function stateOf({ state, desired, is_ready, is_suspect }: ReplicaRow): ReplicaFact["state"] {
  switch (state) {
    case "LEASED":
    case "STARTING":
      return desired === "stop" ? "STOPPING" : state;
    case "RUNNING":
      if (desired === "stop") return "STOPPING";
      if (is_ready === 0) return "WARMING";
      return is_suspect === 1 ? "SUSPECT" : "READY";
    case "DRAINING":
    case "RELEASING":
    case "RELEASED":
    case "QUARANTINED":
      return "STOPPING";
    case "LOST":
    case "FENCED":
      return "LOST";
  }
}
