/** What Prometheus says is in force. */
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import type { NotifierConfig } from "./config.ts";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { type Alert, alertOf } from "./decisions/alert.ts";

const ANSWER_MS = 10_000;
const MAX_BYTES = 8 * 1024 ** 2;

const Texts = Type.Record(Type.String(), Type.String());
const Answer = Type.Object({
  status: Type.Literal("success"),
  data: Type.Object({
    alerts: Type.Array(
      Type.Object({
        labels: Texts,
        annotations: Texts,
        state: Type.String(),
        activeAt: Type.String(),
      }),
    ),
  }),
});

/** @property active ids of those in force and of those that will be if they last */
export type AlertsNow = { firing: Alert[]; active: Set<string> };

/** @throws when no such answer comes */
export async function readAlerts(prometheus: NotifierConfig["prometheus"]): Promise<AlertsNow> {
  const { port, caFile, certFile, keyFile } = prometheus;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request(
    {
      ...{ host: "127.0.0.1", port, path: "/api/v1/alerts", servername: "localhost" },
      ...{ ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) },
      ...{ agent: false, signal: AbortSignal.timeout(ANSWER_MS) },
    },
    (answer) => void readText(answer).then(resolve, reject),
  );
  sent.on("error", reject);
  sent.end();
  const value: unknown = JSON.parse(await promise);
  if (!Value.Check(Answer, value)) throw new Error("Prometheus answers in another form");
  const all = value.data.alerts.flatMap((one) => {
    const alert = alertOf(one);
    return alert === null ? [] : [{ alert, isFiring: one.state === "firing" }];
  });
  return {
    firing: all.filter(({ isFiring }) => isFiring).map(({ alert }) => alert),
    active: new Set(all.map(({ alert }) => alert.id)),
  };
}

async function readText(answer: IncomingMessage): Promise<string> {
  if (answer.statusCode !== 200) throw new Error(`Prometheus answered ${answer.statusCode}`);
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_BYTES) throw new Error("a longer list of alerts than anybody reads");
  }
  return text;
}
