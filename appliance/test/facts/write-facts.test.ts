import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { coordinator } from "@resontech/coordinator/part";
import { pino } from "pino";
import t from "tap";
import { Value } from "typebox/value";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import type { PartStatus } from "../../src/supervisor/supervisor.ts";
import { factsOf, writeFacts } from "../../src/facts/write-facts.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const UID_BASE = 64_100;

/** A layout whose `/run` is the test's own. */
class TestLayout extends Layout {
  override run(...path: string[]): string {
    return [this.root, "run", ...path].join("/");
  }
}

function contextIn(root: string): PartContext {
  for (const folder of ["data", "log", "run/facts"])
    mkdirSync(`${root}/${folder}`, { recursive: true });
  const config = {
    ...{ uidBase: UID_BASE, agent: null, containerEngine: { kind: "podman" } },
    ports: { s3: 1 },
  } as ApplianceConfig;
  return {
    layout: new TestLayout(root, "test"),
    config,
    parts: [coordinator] as PartContext["parts"],
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
    const now = Date.now();
    const facts = factsOf(
      layout,
      {
        parts: [nats],
        backups: {
          ...{ target: "/mnt/backups", isOverdue: true, takenAtMs: 7, failure: null },
          ...{ everyMinutes: 60, keep: 7, nextAtMs: 11, followed: { behindS: 9, failure: null } },
        },
        memory: new Map([["nats", 4_096]]),
        lines: () => [{ at: 3, level: "warn", text: "slow consumer" }],
        findings: [{ severity: "fault", code: "part_silent", what: "w".repeat(5_000), todo: "" }],
        ofParts: { targets: [{ target: "mail", isFailing: true }] },
      },
      now,
    );
    t.same(facts.backup, {
      ...{ takenAt: 7, nextAt: 11, target: "/mnt/backups", everyMinutes: 60, keep: 7 },
      ...{ isOverdue: true, failure: null, behindS: 9 },
    });
    t.equal(facts.findings[0]?.what.length, 2_048, "as much as the form takes");
    t.same(facts.targets, [{ target: "mail", isFailing: true }]);
    t.ok(Value.Check(ApplianceFacts, facts), JSON.stringify(facts));
    t.same(facts.parts, [
      {
        ...{ part: "nats", isHealthy: false, isHeld: false, restarts: 2, phase: "unhealthy" },
        ...{ since: now - 5, version: "2", memoryBytes: 4_096, lastExit: null },
        lines: [{ at: 3, level: "warn", text: "slow consumer" }],
      },
    ]);
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
    t.same([mode & 0o777, uid, gid], [0o440, 0, UID_BASE + coordinator.user]);
    t.match(JSON.parse(readFileSync(context.layout.factsFile, "utf8")), {
      formatVersion: 1,
      findings: [{ severity: "fault", code: "part_silent" }],
    });
  },
);
