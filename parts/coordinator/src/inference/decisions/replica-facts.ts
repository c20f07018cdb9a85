/** Pure: what a member's row says of the replica that it is. */
import type { ReplicaRow } from "../replicas.ts";
import type { ReplicaFact } from "./deployment.ts";

export function replicaFact(row: ReplicaRow): ReplicaFact {
  const makesWay = row.makes_way === 1;
  return {
    id: row.id,
    state: stateOf(row),
    isLeaving: makesWay || row.is_cordoned === 1,
    makesWay,
  };
}

function stateOf(row: ReplicaRow): ReplicaFact["state"] {
  const { state, desired, is_ready } = row;
  switch (state) {
    case "LEASED":
    case "STARTING":
      return desired === "stop" ? "STOPPING" : state;
    case "RUNNING":
      if (desired === "stop") return "STOPPING";
      return is_ready === 0 ? "WARMING" : readyStateOf(row);
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

/** Answers the state of a replica that is ready. Until it has answered the last wish, what it said before says nothing. */
function readyStateOf(row: ReplicaRow): ReplicaFact["state"] {
  if (row.wishes_sleep === 1 || row.standing_order < row.wish_order) return "SLEEPING";
  return row.is_suspect === 1 || row.standing === "stalled" ? "SUSPECT" : "READY";
}
