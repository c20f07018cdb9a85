/** Asks the appliance's own Prometheus, which answers only who shows the reader's certificate. */
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { ApiError } from "../api-error.ts";
import type { TimeAxis } from "./decisions/time-axis.ts";
import type { RangeSeries } from "./decisions/use-series.ts";

const ANSWER_MS = 10_000;
const MAX_BYTES = 16 * 1024 ** 2;
const PATH = "/api/v1/query_range";

const RangeAnswer = Compile(
  Type.Object({
    status: Type.Literal("success"),
    data: Type.Object({
      resultType: Type.Literal("matrix"),
      result: Type.Array(
        Type.Object({
          metric: Type.Record(Type.String(), Type.String()),
          values: Type.Array(Type.Unsafe<[number, string]>(Type.Array(Type.Unknown()))),
        }),
      ),
    }),
  }),
);

type Where = NonNullable<CoordinatorConfig["prometheus"]>;

export class PrometheusReader {
  readonly #where: Where | undefined;

  /** @param where undefined: this appliance has none */
  constructor(where: Where | undefined) {
    this.#where = where;
  }

  /** @throws ApiError figures_away */
  async range(query: string, axis: TimeAxis): Promise<readonly RangeSeries[]> {
    if (this.#where === undefined)
      throw new ApiError("figures_away", "this appliance has no Prometheus");
    try {
      return await ask(this.#where, query, axis);
    } catch (error) {
      throw new ApiError("figures_away", "Prometheus did not answer", { cause: error });
    }
  }
}

async function ask(
  { port, caFile, certFile, keyFile }: Where,
  query: string,
  { fromS, toS, stepS }: TimeAxis,
): Promise<readonly RangeSeries[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(
    {
      ...{ host: "127.0.0.1", port, path: PATH, method: "POST", servername: "localhost" },
      // They are renewed in place.
      ...{ ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) },
      headers: { "content-type": "application/x-www-form-urlencoded" },
      ...{ agent: false, signal: AbortSignal.timeout(ANSWER_MS) },
    },
    (answer) => void readText(answer).then(resolve, reject),
  );
  sent.on("error", reject);
  const range = { start: String(fromS), end: String(toS), step: String(stepS) };
  const timeout = `${ANSWER_MS}ms`;
  sent.end(new URLSearchParams({ query, ...range, timeout }).toString());
  const value: unknown = JSON.parse(await promise);
  if (!RangeAnswer.Check(value)) throw new Error("Prometheus answers in another form");
  return value.data.result;
}

async function readText(answer: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_BYTES) throw new Error("Prometheus answers more than anybody draws");
  }
  // A refusal names what of the query is wrong.
  if (answer.statusCode !== 200)
    throw new Error(`Prometheus answered ${answer.statusCode}: ${text.slice(0, 300)}`);
  return text;
}
