import { Counter, Histogram, type Registry } from "prom-client";

const SECONDS = [0.005, 0.02, 0.1, 0.5, 2, 10];

/** HTTP requests by the route's template, so that neither an id nor whatever a caller typed becomes a label. */
export class RequestCounter {
  readonly #requests;
  readonly #duration;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#requests = new Counter({
      name: "resontech_http_requests_total",
      help: "Answers by method, route and status.",
      labelNames: ["method", "route", "status"],
      registers,
    });
    this.#duration = new Histogram({
      name: "resontech_http_request_duration_seconds",
      help: "Time from a request's headers to the end of its answer.",
      labelNames: ["method", "route"],
      buckets: SECONDS,
      registers,
    });
  }

  /** @param route its template; null where no route was found */
  answered(method: string, route: string | null, status: number, seconds: number): void {
    // Without a route the method is the caller's own word.
    const labels = route === null ? { method: "any", route: "none" } : { method, route };
    this.#requests.inc({ ...labels, status: String(status) });
    this.#duration.observe(labels, seconds);
  }
}
