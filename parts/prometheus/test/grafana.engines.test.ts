/** The Grafana file is what its source says, and each of its queries finds figures on the real Prometheus. Its form is checked by the types of Grafana's schema. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import { joinAgent } from "@resontech/coordinator/testing/join-agent";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { applianceDashboard, dashboardQueries } from "../grafana/appliance-dashboard.ts";
import { RunningPrometheus } from "@resontech/house/running-prometheus";
import { until } from "@resontech/house/until";

t.test("the file is its source's, and its panels stand beside one another", async (t) => {
  const file = join(import.meta.dirname, "..", "grafana", "appliance.json");
  const shipped = JSON.parse(readFileSync(file, "utf8")) as ReturnType<typeof applianceDashboard>;
  t.same(shipped, JSON.parse(JSON.stringify(applianceDashboard())));
  const taken = new Set<string>();
  const ids = new Set<number | undefined>();
  for (const panel of shipped.panels ?? []) {
    if (!("gridPos" in panel) || panel.gridPos === undefined) continue;
    const { x, y, w, h } = panel.gridPos;
    t.ok(x + w <= 24, String(panel.title));
    for (let column = x; column < x + w; column += 1)
      for (let row = y; row < y + h; row += 1) {
        t.notOk(taken.has(`${column} ${row}`), `${panel.title} lies on another`);
        taken.add(`${column} ${row}`);
      }
    t.notOk(ids.has(panel.id), "an id of its own");
    ids.add(panel.id);
  }
  t.ok(ids.size >= 16);
});

t.test("each query is understood, and asks for figures that there are", async (t) => {
  const coordinator = await RunningCoordinator.create();
  t.teardown(() => coordinator[Symbol.asyncDispose]());
  const [tokenFile = ""] = coordinator.config.metrics?.tokenFiles ?? [];
  writeFileSync(tokenFile, randomBytes(32).toString("base64url"));
  const facts = factsOfHost({
    parts: [partFact({ part: "nats" })],
    certificates: [{ file: "etc/ca/root.crt", expiresAt: Date.now() + 1e9 }],
    disks: [{ holds: "logs", totalBytes: 10, freeBytes: 5, totalInodes: 10, freeInodes: 5 }],
    backup: backupFact({ takenAt: Date.now() }),
  });
  writeFileSync(coordinator.config.metrics?.factsFile ?? "", JSON.stringify(facts));
  const agent = await joinAgent(coordinator, "node-a", 1);
  t.teardown(() => agent.close());
  agent.uses = {
    node: { processors: 2, cpuMs: 1, memoryBytes: 2, memoryInUseBytes: 1 },
  };
  await agent.beat([]);
  const prometheus = await RunningPrometheus.create(join(t.testdir(), "prometheus"), {
    door: { address: "127.0.0.1", port: Number(new URL(coordinator.url).port), name: "localhost" },
    ...{ tokenFile, doorCa: coordinator.s3.caFile },
  });
  t.teardown(() => prometheus[Symbol.asyncDispose]());
  // Rates need two looks.
  const hasTwo = async () =>
    ((await prometheus.query("count_over_time(resontech_audit_entries[1m])"))[0]?.value ?? 0) >= 3;
  t.ok(await until(hasTwo, 120_000), prometheus.output);
  for (const expr of dashboardQueries()) {
    const found = await prometheus.query(expr);
    // The test's node has no device that tells of its use, and no member.
    if (!/resontech_(device|member)_/.test(expr)) t.ok(found.length > 0, expr);
  }
});
