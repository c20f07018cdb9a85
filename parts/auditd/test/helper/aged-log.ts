/** A log that has been written for years: shards 2018 to 2020, stopped. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "./auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const BEGUN = "2018-12-20";
const TURNS = ["2019-01-02", "2020-01-02"];

const TODAY = "2020-06-10";
export const LONG_BEFORE = "2019-01-10T00:00:00.000Z";

export async function agedAuditd(t: Test): Promise<AuditdFixture> {
  const root = temporaryFolder(t);
  const producers = ["coordinator-gate", "vault"].map((name) => ({
    ...{ name, family: name, gid: null },
    socket: join(root, "run", `${name}.sock`),
  }));
  const clockSyncedFile = join(root, "clock-synced");
  writeFileSync(clockSyncedFile, "");
  const auditd = new AuditdFixture(root, {
    inception: BEGUN,
    checkpointMs: 20,
    learnMs: 0,
    heartbeatMs: 200,
    producers,
    clockSyncedFile,
  });
  t.teardown(() => auditd.stop("SIGKILL"));
  for (const day of [BEGUN, ...TURNS]) {
    auditd.clockMs = Date.parse(`${day}T10:00:00Z`);
    if (day === BEGUN) auditd.init();
    await auditd.start();
    await until(() => auditd.currentSlug === day.slice(0, 4));
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: day,
    });
    await gate.fact(keyList());
    await gate.close();
    await auditd.stop();
  }
  auditd.clockMs = Date.parse(`${TODAY}T10:00:00Z`);
  return auditd;
}

export function checkpointOf(auditd: AuditdFixture, slug: string): string {
  return readFileSync(join(auditd.shardDir(slug), "checkpoint"), "utf8");
}
