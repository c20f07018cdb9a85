/** A node tells what its members use, the real Prometheus looks at the running coordinator, and the API answers with curves. */
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MemberUses } from "@resontech/contracts/agent-protocol";
import type { UseReply } from "@resontech/contracts/http-use";
import { factsOfHost } from "@resontech/house/facts-of-host";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { freePort } from "@resontech/house/free-port";
import type { AlertRule } from "@resontech/prometheus/alert-rules";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { untilFound } from "@resontech/house/until-found";
import Database from "better-sqlite3";
import t from "tap";
import { joinAgent } from "../helper/join-agent.ts";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { goodBody, goodFiles, upload } from "../helper/workspace.ts";

const KIB = 1024;
/** Prometheus looks no closer than that, so an answer's points stand no closer. */
const STEP_MS = 15_000;

const dir = join(t.testdir({}), "prometheus");
const port = await freePort();
const coordinator = await RunningCoordinator.create({
  identity: true,
  prometheus: {
    ...{ port, caFile: join(dir, "both.pem") },
    ...{ certFile: join(dir, "reader.crt"), keyFile: join(dir, "reader.key") },
  },
});
t.teardown(() => coordinator[Symbol.asyncDispose]());
const owner = await coordinator.control("add-user", { username: "owner" });
const stranger = await coordinator.control("add-user", { username: "stranger" });
const administrator = await coordinator.signedIn(stranger.userId, { roles: ["platform-admin"] });

/** Holds as long as the coordinator is looked at. */
const ALWAYS: AlertRule = {
  ...{ alert: "Always", expr: 'up{job="coordinator"} == 1', forDuration: null },
  ...{ severity: "warning", summary: "It answers.", todo: "Nothing.", runbook: "part-down" },
};

type Answer = { status: number; body: UseReply & { code?: string; hint?: string } };
async function ask(path: string, headers: Record<string, string>): Promise<Answer> {
  const reply = await fetchWithCa(coordinator.caPem, coordinator.url + path, {
    ...{ method: "GET", headers },
  });
  return { status: reply.status, body: (await reply.json()) as Answer["body"] };
}
const withKey = (key: string) => ({ authorization: `Bearer ${key}` });
/** Of the last moments: two points, of which the second has values. */
const now = () => `from=${Date.now() - STEP_MS}&to=${Date.now()}&points=2`;

t.test("while Prometheus is away it is said, with what to do", async (t) => {
  const { status, body } = await ask("/api/use", administrator);
  t.match({ status, body }, { status: 503, body: { code: "figures_away" } });
  t.match(body.hint, /appliance status/);
});

t.test("what members and nodes use is read as curves, by whom it concerns", async (t) => {
  const agent = await joinAgent(coordinator, "node-a", 2);
  t.teardown(() => agent.close());
  await agent.beat([]);
  await upload(coordinator.s3, owner.bucketAlias, "digits", goodFiles());
  const { body } = await coordinator.request(
    ...(["POST", "/api/tasks", owner.platformKey, goodBody("digits")] as const),
  );
  const id = String(body["id"]);
  const members = await agent.desiredOf(id, 3);
  await agent.bringUp(members);
  const held = members.map(({ member, fence }) => ({ member, fence }));
  // No image of the test is for an accelerator: a slot is called one once its member runs.
  const db = new Database(coordinator.config.databaseFile, { timeout: 60_000 });
  db.exec("UPDATE workers SET kind = 'gpu' WHERE id = 'node-a-0'");
  db.close();
  const sites = held.map(({ member }) => member.slice(`${id}-a1-`.length));
  t.same(sites, ["server", "site-1", "site-2"]);

  const [tokenFile = ""] = coordinator.config.metrics?.tokenFiles ?? [];
  writeFileSync(tokenFile, randomBytes(32).toString("base64url"));
  const at = Number(new URL(coordinator.url).port);
  const prometheus = await RunningPrometheus.create(
    dir,
    {
      door: { address: "127.0.0.1", port: at, name: "localhost" },
      ...{ tokenFile, doorCa: coordinator.s3.caFile, port },
    },
    [ALWAYS],
  );
  t.teardown(() => prometheus[Symbol.asyncDispose]());

  let beats = 0;
  /** Each member has used a second of two processors more at each beat. */
  const use = async (): Promise<void> => {
    beats += 1;
    const each = (value: number) => held.map(() => value);
    const told: MemberUses = {
      ...{ held: [...held.keys()], cpuMs: each(2_000 * beats), memoryKib: each(300) },
      ...{ memoryLimitMib: each(1), diskReadKib: each(0), networkSentKib: each(10 * beats) },
    };
    agent.uses = {
      members: told,
      node: { processors: 4, cpuMs: 9_000 * beats, memoryBytes: 8_000, diskBytes: 9_000 },
    };
    const device = { worker: "node-a-0", memoryInUseBytes: 700, utilizationPercent: 50, ageMs: 0 };
    await agent.beat(held, [device]);
  };
  const seriesOf = ({ body: { series } }: Answer, measure: string) =>
    series.filter((one) => one.measure === measure);
  const lastOf = (values: readonly (number | null)[]) => values.at(-1) ?? null;

  const job = await untilFound("curves of the job", async () => {
    await use();
    const answer = await ask(`/api/jobs/${id}/use?${now()}`, withKey(owner.platformKey));
    const cpu = seriesOf(answer, "cpu");
    const isWhole = cpu.length === 3 && cpu.every(({ values }) => (lastOf(values) ?? 0) > 0);
    return isWhole && seriesOf(answer, "device_use").length > 0 ? answer : null;
  });
  t.match(job, { status: 200, body: { stepS: 15, keptDays: 15 } });
  t.same(
    seriesOf(job, "cpu").map(({ of, unit }) => ({ ...of, unit })),
    sites.map((site) => ({
      ...{ member: `${id}-a1-${site}`, site, attempt: "1", node: "node-a", unit: "cores" },
    })),
  );
  for (const [measure, unit, value] of [
    ["memory", "bytes", 300 * KIB],
    ["memory_limit", "bytes", KIB ** 2],
    ["disk_read", "bytes/s", 0],
  ] as const)
    t.match(
      seriesOf(job, measure).map((one) => [one.unit, lastOf(one.values)]),
      sites.map(() => [unit, value]),
      measure,
    );
  t.match(
    seriesOf(job, "device_use"),
    [{ unit: "percent", of: { site: /^site-[12]$/, worker: "node-a-0", node: "node-a" } }],
    "of the member that holds it",
  );
  t.equal(lastOf(seriesOf(job, "device_use")[0]?.values ?? []), 50);
  t.equal(lastOf(seriesOf(job, "device_memory")[0]?.values ?? []), 700);
  t.same(seriesOf(job, "memory_peak"), [], "what the node does not say is no curve");
  t.equal(seriesOf(job, "cpu")[0]?.values[0], null, "before the first look nothing is known");

  const node = await ask(`/api/nodes/node-a/use?${now()}`, administrator);
  t.match(node, { status: 200 });
  t.equal(lastOf(seriesOf(node, "cpu_limit")[0]?.values ?? []), 4);
  t.same(seriesOf(node, "cpu")[0]?.of, { node: "node-a" });
  t.notMatch(JSON.stringify(node.body), id, "of jobs it says nothing");
  const fleet = await ask(`/api/use?${now()}`, administrator);
  t.equal(lastOf(seriesOf(fleet, "workers_limit")[0]?.values ?? []), 2);
  t.equal(lastOf(seriesOf(fleet, "devices")[0]?.values ?? []), 1);
  t.equal(lastOf(seriesOf(fleet, "memory_limit")[0]?.values ?? []), 8_000);
  t.notMatch(JSON.stringify(fleet.body), id);

  t.match(await ask(`/api/jobs/${id}/use`, administrator), { status: 403 }, "no figures of jobs");
  for (const path of ["/api/use", "/api/nodes/node-a/use"])
    t.match(await ask(path, withKey(stranger.platformKey)), { status: 403 }, path);
  t.match(await ask("/api/nodes/node-b/use", administrator), { status: 404 });
  t.match(await ask("/api/use?from=2&to=1", administrator), {
    ...{ status: 400, body: { code: "validation_failed" } },
  });

  const history = async (path: string, headers = administrator) =>
    (await ask(`/api/appliance/${path}`, headers)) as { status: number; body: object };
  const holding = await untilFound("the alert that holds", async () => {
    const answer = await history("alerts");
    return JSON.stringify(answer.body).includes("Always") ? answer : null;
  });
  t.match(holding.body, {
    keptDays: 15,
    alerts: [{ alert: "Always", severity: "warning", about: "job: coordinator", to: null }],
  });
  const disk = { holds: "logs", totalBytes: 10, freeBytes: 5, totalInodes: 1, freeInodes: 1 };
  writeFileSync(
    coordinator.config.metrics?.factsFile ?? "",
    JSON.stringify(factsOfHost({ disks: [disk] })),
  );
  await untilFound("the disk", async () => {
    const found = await prometheus.query("resontech_disk_free_bytes");
    return found.length === 1 ? true : null;
  });
  t.match(
    await history("disks"),
    { status: 200, body: { disks: [{ holds: "logs", bytesPerDay: null, fillsAt: null }] } },
    "some looks are no line",
  );
  for (const path of ["alerts", "disks", "runbooks/part-down"])
    t.match(await history(path, withKey(owner.platformKey)), { status: 403 }, path);

  // It ends: its node names it no more, and its series vanish from the next look on.
  agent.uses = {};
  const ended = await untilFound("the end of the series", async () => {
    const found = await prometheus.query(`resontech_member_memory_bytes{exported_job="${id}"}`);
    return found.length === 0 ? true : null;
  });
  t.ok(ended);
  const whole = await ask(`/api/jobs/${id}/use`, withKey(owner.platformKey));
  t.match(whole, { status: 200 });
  t.equal(seriesOf(whole, "memory").length, 3, "what was stays to be read");
});
