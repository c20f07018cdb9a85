/** What the gateway counts of each deployment while it lives. A deployment that is gone has no numbers. */
import {
  type DeploymentNumbers,
  TIME_CLASSES_MS,
  type Times,
} from "@resontech/contracts/gateway-numbers";
import type { Usage } from "../openai-surface/usage.ts";

/** One call, from its request's head on. */
export type CountedCall = {
  /** The first byte of its answer leaves now. */
  answering(): void;
  /** Once. @param failure HTTP status or how it broke; null where it went well */
  end(failure: string | null, usage: Usage | null): void;
};

export class GatewayNumbers {
  readonly #of = new Map<string, DeploymentNumbers>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @param beganAt by this object's clock */
  begin(deployment: string, beganAt: number): CountedCall {
    let firstAt: number | null = null;
    return {
      answering: () => {
        firstAt ??= this.#now();
      },
      end: (failure, usage) => {
        const numbers = this.#numbersOf(deployment);
        numbers.requests += 1;
        if (failure !== null) numbers.errors[failure] = (numbers.errors[failure] ?? 0) + 1;
        add(numbers.duration, this.#now() - beganAt);
        if (firstAt !== null) add(numbers.firstByte, firstAt - beganAt);
        numbers.promptTokens += usage?.promptTokens ?? 0;
        numbers.completionTokens += usage?.completionTokens ?? 0;
      },
    };
  }

  get now(): number {
    return this.#now();
  }

  /** Deployments that are not among these are gone. */
  keep(deployments: Iterable<string>): void {
    const kept = new Set(deployments);
    for (const deployment of this.#of.keys())
      if (!kept.has(deployment)) this.#of.delete(deployment);
  }

  all(): DeploymentNumbers[] {
    return [...this.#of.values()];
  }

  #numbersOf(deployment: string): DeploymentNumbers {
    let numbers = this.#of.get(deployment);
    if (numbers === undefined) {
      numbers = {
        ...{ deployment, requests: 0, errors: {}, duration: noTimes(), firstByte: noTimes() },
        ...{ promptTokens: 0, completionTokens: 0 },
      };
      this.#of.set(deployment, numbers);
    }
    return numbers;
  }
}

function noTimes(): Times {
  return { counts: Array.from({ length: TIME_CLASSES_MS.length + 1 }, () => 0), sumMs: 0 };
}

function add(times: Times, ms: number): void {
  const at = TIME_CLASSES_MS.findIndex((end) => ms <= end);
  const index = at < 0 ? TIME_CLASSES_MS.length : at;
  times.counts[index] = (times.counts[index] ?? 0) + 1;
  times.sumMs += ms;
}
