/** Which parts of an appliance are other processes than they were: the supervisor's own count begins anew for a part that ran for a while. */
import type { LocalAppliance } from "@resontech/house/local-appliance";

export class ReplacedParts {
  readonly #appliance: LocalAppliance;
  readonly #before: ReadonlyMap<string, number | null>;

  constructor(appliance: LocalAppliance) {
    this.#appliance = appliance;
    this.#before = pidsOf(appliance);
  }

  /** Their names, since this was made. */
  names(): string[] {
    const now = pidsOf(this.#appliance);
    return [...this.#before].flatMap(([name, pid]) => (now.get(name) === pid ? [] : [name]));
  }
}

function pidsOf(appliance: LocalAppliance): Map<string, number | null> {
  return new Map(appliance.status().parts.map(({ name, pid }) => [name, pid]));
}
