/** `GET /metrics` of the running coordinator, through the front door. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { joinAgent } from "../helper/join-agent.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";

const CANARY = "canary7f3a";
const coordinator = await RunningCoordinator.create();
t.teardown(() => coordinator[Symbol.asyncDispose]());
const [ownFile = "", customersFile = ""] = coordinator.config.metrics?.tokenFiles ?? [];
const token = (): string => randomBytes(32).toString("base64url");
const [own, customers] = [token(), token()];
writeFileSync(ownFile, own, { mode: 0o400 });
writeFileSync(customersFile, customers, { mode: 0o600 });

async function ask(
  authorization: string | null,
): Promise<{ status: number; text: string; type: string | null }> {
  const reply = await fetchWithCa(coordinator.caPem, `${coordinator.url}/metrics`, {
    method: "GET",
    headers: authorization === null ? {} : { authorization },
  });
  return {
    ...{ status: reply.status, text: await reply.text() },
    type: reply.headers.get("content-type"),
  };
}

t.test("only a token for metrics reads them, and a rotated one at once no more", async (t) => {
  for (const wrong of [null, "Bearer ", `Bearer ${token()}`, `Basic ${own}`, `Bearer ${own} x`]) {
    const { status, text } = await ask(wrong);
    t.equal(status, 401, String(wrong));
    t.match(JSON.parse(text), { code: "metrics_token_invalid" });
  }
  const user = await coordinator.control("add-user", { username: CANARY });
  t.equal((await ask(`Bearer ${user.platformKey}`)).status, 401, "an administrator's key");
  for (const good of [own, customers])
    t.match(await ask(`Bearer ${good}`), { status: 200, type: /^text\/plain; ?version=0\.0\.4/ });
  const next = token();
  writeFileSync(customersFile, next);
  t.equal((await ask(`Bearer ${customers}`)).status, 401);
  t.equal((await ask(`Bearer ${next}`)).status, 200);
});

t.test("they tell of the coordinator, its parts and nodes, and name nobody", async (t) => {
  const facts = factsOfHost({ parts: [partFact({ part: "nats" })] });
  writeFileSync(coordinator.config.metrics?.factsFile ?? "", JSON.stringify(facts));
  const agent = await joinAgent(coordinator, "node-a", 1);
  t.teardown(() => agent.close());
  await coordinator.get(`/api/jobs/${CANARY}`);
  await coordinator.get(`/${CANARY}`);
  const { text } = await ask(`Bearer ${own}`);
  for (const line of [
    /^resontech_database_up 1$/m,
    /^resontech_storage_up 1$/m,
    /^resontech_bus_up 1$/m,
    /^resontech_audit_answers 1$/m,
    /^resontech_audit_entries [1-9]\d*$/m,
    /^resontech_audit_state\{state="ok"\} 1$/m,
    /^resontech_jobs\{state="running"\} 0$/m,
    /^resontech_node_ready\{node="node-a"\} /m,
    /^resontech_part_up\{part="nats"\} 1$/m,
    /^resontech_http_requests_total\{method="GET",route="\/metrics",status="401"\} [1-9]/m,
    /^resontech_http_requests_total\{method="any",route="none",status="404"\} [1-9]/m,
    /^nodejs_eventloop_lag_seconds /m,
  ])
    t.match(text, line);
  t.notMatch(text, new RegExp(CANARY), "neither a person nor what a caller typed");
});

t.test("what the supervisor did not write as agreed is not told", async (t) => {
  for (const content of ["", "{", JSON.stringify({ formatVersion: 1, parts: CANARY })]) {
    writeFileSync(coordinator.config.metrics?.factsFile ?? "", content);
    const { status, text } = await ask(`Bearer ${own}`);
    t.equal(status, 200);
    t.notMatch(text, /resontech_part_up/);
  }
});
