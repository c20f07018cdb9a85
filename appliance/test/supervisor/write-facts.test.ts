import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import { type ApplianceConfig, UID_OFFSETS } from "@resontech/contracts/appliance-config";
import { pino } from "pino";
import { prometheus } from "@resontech/prometheus/part";
import t from "tap";
import { Value } from "typebox/value";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import {
  ensureMetricsTokens,
  metricsTokenFiles,
  prometheusTokenFile,
  readCustomersToken,
  rotateCustomersToken,
} from "../../src/config/metrics-token.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import type { PartStatus } from "../../src/supervisor/supervisor.ts";
import { factsOf, writeFacts } from "../../src/supervisor/write-facts.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const UID_BASE = 64_100;

/** A layout whose `/run` is the test's own. */
class TestLayout extends Layout {
  override run(...path: string[]): string {
    return [this.root, "run", ...path].join("/");
  }
}

function contextIn(root: string): PartContext {
  for (const folder of [
    "etc/secrets/coordinator",
    "etc/secrets/prometheus",
    "data",
    "log",
    "run/facts",
  ])
    mkdirSync(`${root}/${folder}`, { recursive: true });
  const config = { uidBase: UID_BASE } as ApplianceConfig;
  return {
    layout: new TestLayout(root, "test"),
    config,
    parts: [] as PartContext["parts"],
  } as PartContext;
}

const nats: PartStatus = {
  ...{ name: "nats", phase: "unhealthy", isHeld: false, restarts: 2, version: "2", port: 4222 },
  ...{ pid: 1, sinceMs: 5 },
} as PartStatus;

t.test(
  "the supervisor's words are as agreed, and leave its process numbers out",
  asRoot,
  async (t) => {
    const { layout } = contextIn(t.testdir());
    await new CertificateAuthority(layout.caDir).ensureRoot("test");
    const facts = factsOf(
      layout,
      [nats],
      { targets: [{ target: "mail", isFailing: true }] },
      {
        ...{ target: "/mnt/backups", isOverdue: true, takenAtMs: 7, failure: null },
        followed: { behindS: 9, failure: null },
      },
      Date.now(),
    );
    t.same(facts.backup, { takenAt: 7, isOverdue: true, behindS: 9 });
    t.same(facts.targets, [{ target: "mail", isFailing: true }]);
    t.ok(Value.Check(ApplianceFacts, facts), JSON.stringify(facts));
    t.same(facts.parts, [{ part: "nats", isHealthy: false, isHeld: false, restarts: 2 }]);
    t.match(facts.certificates, [{ file: "etc/ca/root.crt" }]);
    t.ok((facts.certificates[0]?.expiresAt ?? 0) > Date.now());
    t.ok(facts.disks.every(({ totalBytes, freeBytes }) => totalBytes > 0 && freeBytes >= 0));
  },
);

t.test(
  "they are written at once, for the coordinator alone to read, until the end",
  asRoot,
  async (t) => {
    const context = contextIn(t.testdir());
    const ended = new AbortController();
    const writing = writeFacts(context, () => [nats], {
      log: pino({ level: "silent" }),
      signal: ended.signal,
    });
    while (!existsSync(context.layout.factsFile)) await sleep(5);
    ended.abort();
    await writing;
    const { mode, uid, gid } = statSync(context.layout.factsFile);
    t.same([mode & 0o777, uid, gid], [0o440, 0, UID_BASE + UID_OFFSETS.coordinator]);
    t.match(JSON.parse(readFileSync(context.layout.factsFile, "utf8")), { formatVersion: 1 });
  },
);

t.test("tokens are made once, differ, and only the customer's is rotated", asRoot, async (t) => {
  const context = contextIn(t.testdir());
  const { layout } = context;
  ensureMetricsTokens(context);
  const read = (): string[] => metricsTokenFiles(layout).map((file) => readFileSync(file, "utf8"));
  const [own, customers] = read();
  t.match(own, /^[\w-]{43}$/);
  t.match(customers, /^[\w-]{43}$/);
  t.not(own, customers);
  t.equal(readFileSync(prometheusTokenFile(layout), "utf8"), own);
  ensureMetricsTokens(context);
  t.same(read(), [own, customers]);
  const next = rotateCustomersToken(context);
  t.equal(readCustomersToken(layout), next);
  t.same(read(), [own, next]);
  for (const file of metricsTokenFiles(layout)) t.equal(statSync(file).mode & 0o777, 0o440);
  t.equal(statSync(prometheusTokenFile(layout)).gid, UID_BASE + prometheus.user);
  // Of a start that was cut: what Prometheus has follows what the coordinator takes.
  writeFileSync(prometheusTokenFile(layout), "old");
  ensureMetricsTokens(context);
  t.equal(readFileSync(prometheusTokenFile(layout), "utf8"), own);
});
