/**
 * Calls one address over kept connections for a while, so many at once or at a fixed rate, and prints what came of it as one line of JSON.
 *
 *     node load.ts '{"port":8000,"headers":{},"streams":32,"seconds":5,"ratePerS":null}'
 */
import { Agent, request, type RequestOptions } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { quantile } from "../../statistics.ts";

/** What is called; `socketPath` or `port`. */
export type LoadTarget = Pick<RequestOptions, "socketPath" | "port"> & {
  headers: Record<string, string>;
};
export type LoadPlan = LoadTarget & {
  streams: number;
  seconds: number;
  /** Calls begin at this rate, whatever has come back; null: each of `streams` goes on as soon as it has its answer. */
  ratePerS: number | null;
};
export type LoadReport = {
  calls: number;
  failed: number;
  per_s: number;
  p50_ms: number;
  p99_ms: number;
};

const BODY = JSON.stringify({
  ...{ model: "m", max_tokens: 64, temperature: 0 },
  messages: [{ role: "user", content: "What is the same every time?" }],
});
/** Before that connections are made and code is compiled. */
const WARM_SHARE = 0.25;

async function run({ streams, seconds, ratePerS, headers, ...to }: LoadPlan): Promise<LoadReport> {
  const agent = new Agent({ keepAlive: true, maxSockets: ratePerS === null ? streams : 1_024 });
  const took: number[] = [];
  let failed = 0;
  const startAt = performance.now();
  const countFrom = startAt + seconds * 1_000 * WARM_SHARE;
  const endAt = startAt + seconds * 1_000;
  const once = (from: number) =>
    new Promise<void>((resolve) => {
      const done = (isAnswered: boolean) => {
        const now = performance.now();
        if (from >= countFrom && now <= endAt) {
          took.push(now - from);
          if (!isAnswered) failed += 1;
        }
        resolve();
      };
      const asked = request({
        ...{ ...to, host: "127.0.0.1", agent, method: "POST", path: "/v1/chat/completions" },
        headers: {
          ...{ "content-type": "application/json", "content-length": Buffer.byteLength(BODY) },
          ...headers,
        },
      });
      asked.once("error", () => done(false));
      asked.once("response", (answer) => {
        answer.resume();
        answer.once("end", () => done(answer.statusCode === 200));
        answer.once("error", () => done(false));
      });
      asked.end(BODY);
    });
  const closedLoop = async () => {
    while (performance.now() < endAt) await once(performance.now());
  };
  const openLoop = async (rate: number) => {
    const all: Promise<void>[] = [];
    for (let at = startAt; at < endAt; at += 1_000 / rate) {
      const early = at - performance.now();
      if (early > 1) await sleep(early);
      // The time that a call waits because its sender is late counts as the call's own.
      all.push(once(at));
    }
    await Promise.all(all);
  };
  if (ratePerS === null) await Promise.all(Array.from({ length: streams }, closedLoop));
  else await openLoop(ratePerS);
  agent.destroy();
  return {
    ...{ calls: took.length, failed },
    per_s: took.length / ((endAt - countFrom) / 1_000),
    ...{ p50_ms: quantile(took, 0.5), p99_ms: quantile(took, 0.99) },
  };
}

if (import.meta.main)
  process.stdout.write(
    `${JSON.stringify(await run(JSON.parse(process.argv[2] ?? "{}") as LoadPlan))}\n`,
  );
