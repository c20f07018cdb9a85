import type { NodeGate } from "./gate-facts.ts";
import { gateOwner, whyNotLetIn } from "./node-gate.ts";
import type { PlacementNode, WaitingGang } from "./placement-facts.ts";

/** Gangs that no gate of the fleet tells apart. Most fleets have none, and then all gangs are of one class. */
export class GateClasses {
  /** Projects that have nodes of their own now. */
  readonly owners: ReadonlySet<string>;
  readonly #gates: readonly NodeGate[];
  readonly #ofGangs = new Map<WaitingGang, string>();
  readonly #known = new Map<string, string>();
  readonly #classes = new Map<string, string>();
  readonly #joined = new Map<string, Map<string, string>>();

  constructor(nodes: Iterable<PlacementNode>) {
    const gates = new Map<string, NodeGate>();
    for (const { gate } of nodes) if (gate !== undefined) gates.set(gate.key, gate);
    this.#gates = [...gates.values()];
    this.owners = new Set(this.#gates.flatMap((gate) => gateOwner(gate) ?? []));
  }

  /** The key with the gang's class at its end: one string for all that share both. */
  joined(key: string, gang: WaitingGang): string {
    const found = this.classOf(gang);
    if (found === "") return key;
    let ofClass = this.#joined.get(found);
    if (ofClass === undefined) this.#joined.set(found, (ofClass = new Map()));
    let joined = ofClass.get(key);
    if (joined === undefined) ofClass.set(key, (joined = key + found));
    return joined;
  }

  /** As the end of a key of gangs; whoever owns a node is never of a class with its guests. */
  classOf(gang: WaitingGang): string {
    const { project, priority, runsMs, before, pool = null } = gang;
    if (this.#gates.length === 0 && pool === null) return "";
    const asked = this.#ofGangs.get(gang);
    if (asked !== undefined) return asked;
    const key = JSON.stringify([project, priority, runsMs, before === undefined, pool]);
    let found = this.#known.get(key);
    if (found === undefined) {
      // An owner may be kept out as well, by a rule of its pool.
      const verdicts = this.#gates.map((gate) => [
        gateOwner(gate) === project,
        whyNotLetIn(gang, gate),
      ]);
      const all = JSON.stringify([pool, verdicts]);
      found = this.#classes.get(all);
      if (found === undefined) this.#classes.set(all, (found = ` gates ${this.#classes.size}`));
      this.#known.set(key, found);
    }
    this.#ofGangs.set(gang, found);
    return found;
  }
}
