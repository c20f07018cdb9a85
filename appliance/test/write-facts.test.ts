import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { coordinator } from "@resontech/coordinator/part";
import { pino } from "pino";
import t from "tap";
import { Value } from "typebox/value";
import { CertificateAuthority } from "../src/ca/certificate-authority.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../src/parts/context.ts";
import type { PartStatus } from "../src/supervisor/supervisor.ts";
import { factsOf, writeFacts } from "../src/write-facts.ts";

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
  const config = { uidBase: UID_BASE } as ApplianceConfig;
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
    t.same([mode & 0o777, uid, gid], [0o440, 0, UID_BASE + coordinator.user]);
    t.match(JSON.parse(readFileSync(context.layout.factsFile, "utf8")), { formatVersion: 1 });
  },
);
