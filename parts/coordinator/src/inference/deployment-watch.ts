/** How deployments do now, from all that the gateways tell. */
import type { DeploymentFigures, DeploymentNumbers } from "@resontech/contracts/gateway-numbers";
import type { Load } from "./decisions/deployment.ts";
import type { GatewayReports } from "./gateway-reports.ts";
import type { HeardNumbers } from "./heard-numbers.ts";

export class DeploymentWatch<Connection> {
  readonly reports: GatewayReports<Connection>;
  readonly numbers: HeardNumbers<Connection>;
  readonly #now: () => number;

  constructor(
    reports: GatewayReports<Connection>,
    numbers: HeardNumbers<Connection>,
    now: () => number,
  ) {
    this.reports = reports;
    this.numbers = numbers;
    this.#now = now;
  }

  figures(deployment: string): DeploymentFigures {
    return { ...this.numbers.figures(deployment, this.#now()), ...this.underWay(deployment) };
  }

  /** What the gateways have of it, for whoever decides on replicas; null where nobody knows. */
  load(deployment: string, deviceUse: () => number | null): Load | null {
    const now = this.#now();
    const load = this.reports.of(deployment, now);
    if (load === null) return null;
    const requestsPerSecond = this.numbers.callsPerSecond(deployment, now);
    return { ...load, requestsPerSecond, deviceUse: deviceUse() };
  }

  /** Calls at a replica, and those that wait for one; null where nobody knows. */
  underWay(deployment: string): Pick<DeploymentFigures, "inFlight" | "waiting"> {
    const load = this.reports.of(deployment, this.#now());
    if (load === null) return { inFlight: null, waiting: null };
    const inFlight = Object.values(load.inFlight).reduce((sum, calls) => sum + calls, 0);
    return { inFlight, waiting: load.queued };
  }

  /** Everything counted since the gateways began, by deployment. */
  counted(): Map<string, DeploymentNumbers> {
    return this.numbers.all(this.#now());
  }
}
