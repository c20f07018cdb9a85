/** What the gateways told of the last minute: enough to say how each deployment does now, and lost with this process. */
import type { DeploymentFigures, DeploymentNumbers } from "@resontech/contracts/gateway-numbers";
import { addNumbers, figuresOf, type NumbersThen } from "./decisions/deployment-figures.ts";

const WINDOW_MS = 60_000;
/** So far apart are those that are kept. */
const STEP_MS = 5_000;
/** So far back goes what replicas are placed for. */
const RECENT_MS = 15_000;
/** A gateway tells each second; what one has told that is silent for so long is no news. */
const SILENT_MS = 10_000;

type Told = { at: number; numbers: ReadonlyMap<string, DeploymentNumbers> };

export class HeardNumbers<Connection> {
  readonly #told = new Map<Connection, Told>();
  /** Of all gateways together, the oldest first. */
  #kept: NumbersThen[] = [];

  take(connection: Connection, numbers: readonly DeploymentNumbers[], now: number): void {
    this.#told.set(connection, {
      at: now,
      numbers: new Map(numbers.map((one) => [one.deployment, one])),
    });
    const last = this.#kept.at(-2);
    const heard = { at: now, numbers: this.all(now) };
    // The newest is always there, and those before it a step apart.
    if (last !== undefined && now - last.at < STEP_MS) this.#kept.pop();
    this.#kept.push(heard);
    this.#kept = this.#kept.filter(({ at }) => now - at <= WINDOW_MS + STEP_MS);
  }

  leave(connection: Connection): void {
    this.#told.delete(connection);
  }

  /** Since each gateway began, those of several together: one takes over from another. */
  all(now: number): Map<string, DeploymentNumbers> {
    const all = new Map<string, DeploymentNumbers>();
    for (const { at, numbers } of this.#told.values())
      if (now - at < SILENT_MS)
        for (const [deployment, one] of numbers)
          all.set(deployment, addNumbers(all.get(deployment) ?? null, one));
    return all;
  }

  /** Of the last seconds, without those that its limits turned away; null where that was not heard. */
  callsPerSecond(deployment: string, now: number): number | null {
    const heard = this.#kept.filter(({ at }) => now - at <= RECENT_MS);
    const { windowS, requestsPerSecond, errors } = figuresOf(deployment, heard);
    return windowS === 0 ? null : requestsPerSecond - (errors["429"] ?? 0) / windowS;
  }

  /** How the deployment does now. */
  figures(deployment: string, now: number): Omit<DeploymentFigures, "inFlight" | "waiting"> {
    return figuresOf(
      deployment,
      this.#kept.filter(({ at }) => now - at <= WINDOW_MS + STEP_MS),
    );
  }
}
