/** What gauges say of deployments. A deployment is named by its id alone; one that is gone has no line. */
import {
  type DeploymentNumbers,
  TIME_CLASSES_MS,
  type Times,
} from "@resontech/contracts/gateway-numbers";
import {
  DEPLOYMENT_STATES,
  type DeploymentState,
  type ReplicaState,
} from "@resontech/contracts/deployment-states";
import type { Family, Sample } from "./samples.ts";

/** Each has some 60 lines, and Prometheus takes 20,000 of all: those with the most calls are told. */
const MAX_TOLD = 200;
const MS = 1_000;

export type InferenceFacts = {
  id: string;
  state: DeploymentState;
  replicas: readonly { state: ReplicaState }[];
  /** Null where no gateway says. */
  inFlight: number | null;
  waiting: number | null;
  /** Null where no call has ended since the gateway began. */
  numbers: DeploymentNumbers | null;
};

export function inferenceFamilies(all: readonly InferenceFacts[]): Family[] {
  const told = all
    .toSorted((a, b) => (b.numbers?.requests ?? 0) - (a.numbers?.requests ?? 0))
    .slice(0, MAX_TOLD);
  const each = (valueOf: (one: InferenceFacts) => number | null): Sample[] =>
    told.flatMap((one) => {
      const value = valueOf(one);
      return value === null ? [] : [{ labels: { deployment: one.id }, value }];
    });
  const counted = (valueOf: (numbers: DeploymentNumbers) => number) =>
    each(({ numbers }) => (numbers === null ? null : valueOf(numbers)));
  return [
    [
      "inference_deployments",
      "Deployments by state.",
      DEPLOYMENT_STATES.map((state) => ({
        labels: { state: state.toLowerCase() },
        value: all.filter((one) => one.state === state).length,
      })),
    ],
    [
      "inference_deployment_failed",
      "1 where the deployment failed to load several times.",
      each(({ state }) => (state === "FAILED" ? 1 : 0)),
    ],
    [
      "inference_replicas",
      "Replicas of the deployment by state.",
      told.flatMap(({ id, replicas }) =>
        [...new Set(replicas.map(({ state }) => state))].map((state) => ({
          labels: { deployment: id, state: state.toLowerCase() },
          value: replicas.filter((one) => one.state === state).length,
        })),
      ),
    ],
    ["inference_in_flight", "Calls that a replica has.", each(({ inFlight }) => inFlight)],
    ["inference_waiting", "Calls that wait for a replica.", each(({ waiting }) => waiting)],
    [
      "inference_requests_total",
      "Calls that came with a good key and have ended, since the gateway began.",
      counted(({ requests }) => requests),
    ],
    [
      "inference_errors_total",
      "Those that did not end well, by HTTP status or by how they broke.",
      told.flatMap(({ id, numbers }) =>
        Object.entries(numbers?.errors ?? {}).map(([code, value]) => ({
          labels: { deployment: id, code },
          value,
        })),
      ),
    ],
    [
      "inference_prompt_tokens_total",
      "Tokens that were sent to the model.",
      counted(({ promptTokens }) => promptTokens),
    ],
    [
      "inference_completion_tokens_total",
      "Tokens that the model answered with.",
      counted(({ completionTokens }) => completionTokens),
    ],
    timeFamily(
      "inference_duration_seconds",
      "From a call's first byte to the end of its answer.",
      told.flatMap(({ id, numbers }) => (numbers === null ? [] : { id, times: numbers.duration })),
    ),
    timeFamily(
      "inference_first_byte_seconds",
      "From a call's first byte to the first one of its answer.",
      told.flatMap(({ id, numbers }) => (numbers === null ? [] : { id, times: numbers.firstByte })),
    ),
  ];
}

/** Renders times as a histogram of Prometheus has them. */
function timeFamily(
  name: string,
  help: string,
  all: readonly { id: string; times: Times }[],
): Family {
  const total = ({ counts }: Times) => counts.reduce((sum, count) => sum + count, 0);
  const linesOf = ({ id, times }: { id: string; times: Times }): Sample[] => {
    let below = 0;
    const buckets = times.counts.map((count, index): Sample => {
      const end = TIME_CLASSES_MS[index];
      below += count;
      const le = end === undefined ? "+Inf" : String(end / MS);
      return { suffix: "_bucket", labels: { deployment: id, le }, value: below };
    });
    const labels = { deployment: id };
    return [
      ...buckets,
      { suffix: "_sum", labels, value: times.sumMs / MS },
      { suffix: "_count", labels, value: total(times) },
    ];
  };
  return [name, help, all.flatMap(linesOf)];
}
