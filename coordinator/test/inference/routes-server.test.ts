/** The socket between the coordinator and its gateways, both ways. */
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CallCounts, Route } from "@resontech/contracts/inference-routes";
import { fastify } from "fastify";
import t, { type Test } from "tap";
import { GatewayReports } from "../../src/inference/gateway-reports.ts";
import { RoutesServer } from "../../src/inference/routes-server.ts";

async function listening(t: Test) {
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
    for (let tries = 0; tries < 200 && !holds(); tries++) await sleep(10);
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
    const { gateway, reports, clock, until } = await listening(t);
    const of = () => reports.of("d", clock.now);
    t.equal(of(), null, "none is there");
    const [a, b] = [await gateway(), await gateway()];
    a.socket.write(counts({ queued: 2, inFlight: [{ member: "r", calls: 1 }], idleMs: 500 }));
    await sleep(50);
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
    await once(socket, "close");
  }
  await sleep(20);
  t.equal(reports.of("d", clock.now), null);
});

t.test("a folder that lets others in is refused", async (t) => {
  const { path, folder, parts } = await listening(t);
  chmodSync(folder, 0o755);
  await t.rejects(RoutesServer.listen(path, parts), /must be closed to others/);
});
