/** The socket between the coordinator and its gateways, both ways. */
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type DeploymentNumbers,
  TIME_CLASSES_MS,
  type UsageRow,
} from "@resontech/contracts/gateway-numbers";
import type { CallCounts, Route } from "@resontech/contracts/inference-routes";
import { untilClosed } from "@resontech/house/until-closed";
import { fastify } from "fastify";
import t, { type Test } from "tap";
import { GatewayReports } from "../../src/inference/gateway-reports.ts";
import { HeardNumbers } from "../../src/inference/heard-numbers.ts";
import { RoutesServer, type RoutesServerParts } from "../../src/inference/routes-server.ts";

async function listening(t: Test, change: Partial<RoutesServerParts> = {}) {
  const dir = mkdtempSync(join(tmpdir(), "rs-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const folder = join(dir, "routes");
  mkdirSync(folder, { mode: 0o750 });
  const path = join(folder, "sock");
  const reports = new GatewayReports<Socket>();
  const clock = { now: 1_000_000 };
  let generation = 1;
  let heard = 0;
  const parts = {
    routes: (): Route[] => [
      {
        ...{ name: "d", api: "predict", createdAt: 0 },
        ...{
          deployment: "d",
          project: "p",
          aliases: [],
          keySha256: "0".repeat(64),
          visibility: "PRIVATE",
        },
        ...{ maxOngoingRequests: 1, generation, state: "COLD", wakeMs: 1, replicas: [] },
      },
    ],
    keys: () => [],
    numbers: { take() {}, leave() {} },
    onUsage: async () => {},
    ...{ reports, onReport: () => heard++, now: () => clock.now, logger: fastify().log },
    ...change,
  };
  const server = await RoutesServer.listen(path, parts);
  t.teardown(() => server[Symbol.asyncDispose]());
  const gateway = async () => {
    const socket = connect(path).setEncoding("utf8");
    socket.on("error", () => {});
    t.teardown(() => socket.destroy());
    const [first] = (await once(socket, "data")) as [string];
    return { socket, first };
  };
  const until = async (holds: () => boolean) => {
    for (let tries = 0; tries < 2_000 && !holds(); tries++) await sleep(10);
    if (!holds()) throw new Error("it did not come to it");
  };
  const bump = () => {
    generation += 1;
  };
  return { path, folder, parts, reports, clock, gateway, until, bump, heard: () => heard };
}

const counts = (change: Partial<CallCounts> = {}): string =>
  `${JSON.stringify({
    deployments: [
      { deployment: "d", generation: 3, queued: 0, inFlight: [], idleMs: null, ...change },
    ],
  })}\n`;

t.test("a gateway is told at once and at each change", async (t) => {
  const { gateway, bump, path } = await listening(t);
  const { socket, first } = await gateway();
  t.match(JSON.parse(first), { routes: [{ deployment: "d", generation: 1 }] });
  bump();
  const [next] = (await once(socket, "data")) as [string];
  t.match(JSON.parse(next), { routes: [{ generation: 2 }] });
  t.equal(statSync(path).mode & 0o007, 0);
});

t.test(
  "what several gateways have is put together, by the oldest that one of them follows",
  async (t) => {
    const { gateway, reports, clock, until, heard } = await listening(t);
    const of = () => reports.of("d", clock.now);
    t.equal(of(), null, "none is there");
    const [a, b] = [await gateway(), await gateway()];
    a.socket.write(counts({ queued: 2, inFlight: [{ member: "r", calls: 1 }], idleMs: 500 }));
    await until(() => heard() > 0);
    t.equal(of(), null, "one has yet to say something");
    b.socket.write(counts({ generation: 2, queued: 1, inFlight: [{ member: "r", calls: 2 }] }));
    await until(() => of() !== null);
    t.same(of(), { generation: 2, queued: 3, inFlight: { r: 3 }, lastCompletionAt: 999_500 });
    t.match(reports.of("other", clock.now), { generation: 0, queued: 0 });
    b.socket.destroy();
    await until(() => of()?.queued === 2);
    clock.now += 10_000;
    t.equal(of(), null, "it has been silent for long");
  },
);

t.test("who says what is no report is cut off", async (t) => {
  const { gateway, reports, clock } = await listening(t);
  for (const line of ["{\n", "[]\n", "\n", counts({ queued: -1 })]) {
    const { socket } = await gateway();
    socket.write(line);
    await untilClosed(socket);
  }
  t.equal(reports.of("d", clock.now), null);
});

t.test("a folder that lets others in is refused", async (t) => {
  const { path, folder, parts } = await listening(t);
  chmodSync(folder, 0o755);
  await t.rejects(RoutesServer.listen(path, parts), /must be closed to others/);
});

t.test("keys go out with the routes; numbers and usage come in, whole lines each", async (t) => {
  const key = { id: "k", sha256: "1".repeat(64), project: "p", expiresAt: 1 };
  const kept: UsageRow[] = [];
  let isFull = false;
  const numbers = new HeardNumbers<Socket>();
  const { gateway, clock, until } = await listening(t, {
    ...{ keys: () => [key], numbers },
    onUsage: async (rows) => {
      if (isFull) throw new Error("the disk is full");
      kept.push(...rows);
    },
  });
  const { socket, first } = await gateway();
  t.match(JSON.parse(first), { keys: [key] });
  const times = { counts: TIME_CLASSES_MS.map(() => 0).concat(2), sumMs: 9 };
  const counted: DeploymentNumbers = {
    ...{ deployment: "d", requests: 2, errors: { "503": 1 }, duration: times, firstByte: times },
    ...{ promptTokens: 1, completionTokens: 2 },
  };
  const row: UsageRow = {
    ...{ day: "2026-01-02", deployment: "d", project: "p", keySha256: "1".repeat(64) },
    ...{ calls: 2, failed: 1, inexact: 0, promptTokens: 1, completionTokens: 2 },
  };
  const lines = [{ numbers: [counted] }, { usage: [row] }, { usage: [row, row] }];
  socket.write(`${lines.map((line) => JSON.stringify(line)).join("\n")}\n${counts()}`);
  await until(() => kept.length === 3);
  t.same(numbers.all(clock.now).get("d"), counted);
  isFull = true;
  const closed = untilClosed(socket);
  socket.write(`${JSON.stringify({ usage: [row] })}\n`);
  await closed;
  t.equal(kept.length, 3);
  await until(() => numbers.all(clock.now).size === 0);
});
