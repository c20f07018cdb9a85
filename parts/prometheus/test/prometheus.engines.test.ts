/** The real Prometheus reads the real coordinator through the real front door, and answers nobody but who shows the reader's certificate. */
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { ALERT_RULES } from "../src/alert-rules.ts";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { until } from "@resontech/house/until";

const dir = t.testdir();
const coordinator = await RunningCoordinator.create();
t.teardown(() => coordinator[Symbol.asyncDispose]());
const [tokenFile = ""] = coordinator.config.metrics?.tokenFiles ?? [];
writeFileSync(tokenFile, randomBytes(32).toString("base64url"));
const prometheus = await RunningPrometheus.create(join(dir, "prometheus"), {
  door: { address: "127.0.0.1", port: Number(new URL(coordinator.url).port), name: "localhost" },
  ...{ tokenFile, doorCa: coordinator.s3.caFile },
});
t.teardown(() => prometheus[Symbol.asyncDispose]());

const isUp = async (job: string): Promise<boolean> =>
  (await prometheus.query(`up{job="${job}"}`)).some(({ value }) => value === 1);

t.test("it reads the coordinator and itself", async (t) => {
  t.ok(await until(() => isUp("coordinator"), 120_000), prometheus.output);
  t.ok(await until(() => isUp("prometheus"), 120_000));
  t.match(await prometheus.query("resontech_database_up"), [
    { metric: { instance: "appliance", job: "coordinator" }, value: 1 },
  ]);
});

t.test("who shows no certificate, or another's, gets no answer", async (t) => {
  for (const reader of [null, prometheus.stranger])
    await t.rejects(prometheus.ask("/api/v1/alerts", reader));
  t.equal((await prometheus.ask("/api/v1/alerts")).status, 200);
});

t.test("15 days and a bound of bytes hold, and every rule is loaded without fault", async (t) => {
  const flags = await prometheus.data<Record<string, string>>("/api/v1/status/flags");
  t.equal(flags["storage.tsdb.retention.size"], "1GiB");
  for (const off of ["web.enable-admin-api", "web.enable-lifecycle"]) t.equal(flags[off], "false");
  const runtime = await prometheus.data<{ storageRetention: string; GOMEMLIMIT: number }>(
    "/api/v1/status/runtimeinfo",
  );
  t.match(runtime.storageRetention, /^15d or 1GiB$/);
  t.equal(runtime.GOMEMLIMIT, 256 * 1024 ** 2);
  const { groups } = await prometheus.data<{
    groups: { rules: { name: string; health: string; lastError?: string }[] }[];
  }>("/api/v1/rules");
  const rules = groups.flatMap((group) => group.rules);
  t.same(
    rules.map(({ name }) => name),
    ALERT_RULES.map(({ alert }) => alert),
  );
  t.same(
    rules.filter(({ lastError }) => lastError !== undefined),
    [],
  );
});

t.test(
  "a rotated token, a killed coordinator and a killed Prometheus are gone through",
  async (t) => {
    writeFileSync(tokenFile, randomBytes(32).toString("base64url"));
    t.ok(await until(() => isUp("coordinator"), 120_000), "the file is read at each look");
    await coordinator.stop("SIGKILL");
    t.ok(await until(async () => !(await isUp("coordinator")), 120_000));
    t.ok(
      await until(
        async () =>
          (await prometheus.alerts()).some(
            ({ labels }) => labels["alertname"] === "CoordinatorUnreachable",
          ),
        20_000,
      ),
    );
    await coordinator.start();
    t.ok(await until(() => isUp("coordinator"), 120_000));
    const [seen] = await prometheus.query("timestamp(up)");
    await prometheus.stop("SIGKILL");
    await prometheus.start();
    const kept = await prometheus.query(`up @ ${seen!.value}`);
    t.ok(kept.length > 0, "what it had stands in its log");
    t.ok(await until(() => isUp("coordinator"), 120_000));
    t.ok(readdirSync(prometheus.settings.dataDir).includes("wal"));
  },
);
