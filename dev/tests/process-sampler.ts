import { ProcessCosts } from "./process-costs.ts";
import { readProcesses } from "./read-processes.ts";

/** Half of what a container lives at least; a look takes some 5 ms. */
const EVERY_MS = 500;

/** Looks at all processes again and again, for {@link ProcessCosts}. */
export class ProcessSampler implements Disposable {
  readonly costs = new ProcessCosts();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.look(), EVERY_MS);
  }

  look(): void {
    this.costs.observe(readProcesses());
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
