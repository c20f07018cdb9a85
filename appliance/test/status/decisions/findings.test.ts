import type { CoordinatorHealth, NodeHealth } from "@resontech/contracts/coordinator-health";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import type { FindingFacts } from "@resontech/frame/finding";
import { CALM_HEALTH, calmFacts } from "@resontech/house/calm-facts";
import { PARTS } from "@resontech/parts";
import t from "tap";
import type { DiskFacts } from "../../../src/status/decisions/disk-findings.ts";
import { findingsOf, type StatusFacts } from "../../../src/status/decisions/findings.ts";
import type { PartStatus } from "../../../src/supervisor/supervisor.ts";

const GIB = 1024 ** 3;
const part = (change: Partial<PartStatus> = {}): PartStatus => ({
  ...{
    name: "s3",
    phase: "healthy",
    sinceMs: 1,
    restarts: 0,
    pid: 1,
    port: 1,
    version: "1",
    lastExit: null,
    isHeld: false,
  },
  ...change,
});
const node = (change: Partial<NodeHealth> = {}): NodeHealth => ({
  ...{
    node: "n1",
    state: "READY",
    silentMs: 100,
    loopLagMs: 1,
    diskFreeBytes: 100 * GIB,
    hasDisk: true,
    cordonReason: null,
    quarantined: [],
  },
  ...change,
});
const calm: CoordinatorHealth = { ...CALM_HEALTH, nodes: [node()] };
const disk = (change: Partial<DiskFacts> = {}): DiskFacts => ({
  ...{
    holds: ["objects"],
    path: "/data",
    totalBytes: 500 * GIB,
    freeBytes: 200 * GIB,
    logReserve: null,
    totalInodes: 1e6,
    freeInodes: 9e5,
  },
  ...change,
});
const well: VaultHealth = { connected: true, fault: null, holdsInDoubt: false, awaitsClock: false };
const facts = (
  change: Partial<StatusFacts> = {},
  said: Partial<FindingFacts> = {},
): StatusFacts => ({
  ...{ parts: [part()], backups: null, disks: [disk()] },
  certificates: [{ file: "a.crt", daysLeft: 300 }],
  runc: { version: "1.3.3", build: "" },
  ...change,
  of: calmFacts({ health: calm, ...said }),
});
const findings = (change: Partial<StatusFacts> = {}, said: Partial<FindingFacts> = {}) =>
  findingsOf(facts(change, said), PARTS);
const codes = (change: Partial<StatusFacts>, said: Partial<FindingFacts> = {}) =>
  findings(change, said).map(({ severity, code }) => `${severity} ${code}`);
const ofParts = (said: Partial<FindingFacts>) => codes({}, said);
const inHealth = (change: Partial<CoordinatorHealth>) =>
  ofParts({ health: { ...calm, ...change } });

const BACKUPS = {
  ...{ target: "/mnt/b", everyMinutes: 60, keep: 7, nextAtMs: 0 },
  isOverdue: false,
  takenAtMs: null,
  failure: null,
  followed: null,
};

t.test("a runc with known escapes is a warning that names the advisories", async (t) => {
  const runc = { version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" };
  t.match(findings({ runc }), [
    { severity: "warning", code: "runc_escapes", what: /1\.1\.5\+ds1.*CVE-2025-31133/ },
  ]);
  t.same(codes({ runc: null }), []);
});

t.test("an appliance that is well has nothing to say", async (t) => {
  t.same(findings(), []);
  t.same(ofParts({ health: null }), [], "a part that is down says so itself");
});

t.test(
  "of a log that was restored, and of which no witness says anything, nobody is said to have seen more",
  async (t) => {
    const [found] = findings(
      {},
      { rolledBack: { origin: "box.audit.acme/2026", seenSize: 90, by: "restore" } },
    );
    t.match(
      found!.what,
      /it was restored, and no witness says what it had seen of box\.audit\.acme\/2026/,
    );
    t.notMatch(found!.what, /90/);
  },
);

t.test("each thing that can be wrong is named with what to do", async (t) => {
  const cases: [string, string[]][] = [
    ["fault part_down", codes({ parts: [part({ phase: "exited", lastExit: "SIGKILL" })] })],
    ["fault part_silent", codes({ parts: [part({ phase: "unhealthy" })] })],
    ["warning part_not_ready", codes({ parts: [part({ phase: "starting" })] })],
    ["warning part_stopped", codes({ parts: [part({ phase: "exited", isHeld: true })] })],
    ["warning part_restarts", codes({ parts: [part({ restarts: 3, lastExit: "exit 1" })] })],
    [
      "fault coordinator_silent",
      codes({ parts: [part({ name: "coordinator" })] }, { health: null }),
    ],
    ["warning s3_front_slow", ofParts({ frontLagMs: 1_500 })],
    [
      "fault audit_rolled_back",
      ofParts({ rolledBack: { origin: "box.audit.acme/2026", seenSize: 90, by: "witness" } }),
    ],
    [
      "fault vault_blocked",
      ofParts({ vault: { ...well, fault: { code: "spool_blocked", message: "a line is torn" } } }),
    ],
    ["fault vault_holds", ofParts({ vault: { ...well, holdsInDoubt: true } })],
    ["warning vault_clock", ofParts({ vault: { ...well, awaitsClock: true } })],
    [
      "fault vault_fails",
      ofParts({ vault: { ...well, fault: { code: "SQLITE_FULL", message: "disk is full" } } }),
    ],
    ["warning clock_set", inHealth({ clockStep: { stepMs: -3_600_000, agoMs: 5_000 } })],
    ["warning planned_stop", inHealth({ plannedStopUntil: "2026-01-01T00:00:00.000Z" })],
    ["fault node_dead", inHealth({ nodes: [node({ state: "DEAD", silentMs: null })] })],
    ["warning node_silent", inHealth({ nodes: [node({ state: "SUSPECT", silentMs: 13_000 })] })],
    ["warning node_slow", inHealth({ nodes: [node({ loopLagMs: 1_500 })] })],
    ["warning node_cordoned", inHealth({ nodes: [node({ cordonReason: "it came and went" })] })],
    [
      "fault worker_quarantined",
      inHealth({ nodes: [node({ quarantined: [{ worker: "n1-0", reason: "release_timeout" }] })] }),
    ],
    [
      "fault worker_unhealthy",
      inHealth({ nodes: [node({ unhealthy: [{ worker: "n1-0", reason: "Xid 79: lost" }] })] }),
    ],
    [
      "warning worker_on_trial",
      inHealth({ nodes: [node({ unhealthy: [{ worker: "n1-0", reason: "t", onTrial: true }] })] }),
    ],
    [
      "fault agent_refused",
      inHealth({ nodes: [node({ state: "DEAD", silentMs: 50_000, refused: "it speaks 9" })] }),
    ],
    [
      "warning pool_node_unlike",
      inHealth({ pools: { unlike: [{ pool: "mig", node: "n1", shows: ["h100"] }], unkept: [] } }),
    ],
    [
      "warning guarantee_unkept",
      inHealth({
        pools: { unlike: [], unkept: [{ model: "h100", shares: ["x"], wanted: 3, there: 2 }] },
      }),
    ],
    ["warning plans_unrecorded", inHealth({ planRecords: "full" })],
    ["warning node_disk_low", inHealth({ nodes: [node({ diskFreeBytes: 2 * GIB })] })],
    ["fault node_disk_full", inHealth({ nodes: [node({ diskFreeBytes: GIB, hasDisk: false })] })],
    ["fault disk_full", codes({ disks: [disk({ freeBytes: GIB / 2 })] })],
    ["warning disk_low", codes({ disks: [disk({ freeBytes: 9 * GIB })] })],
    ["fault inodes_full", codes({ disks: [disk({ freeInodes: 100 })] })],
    ["fault certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: -1 }] })],
    ["warning certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: 3 }] })],
    ["warning certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: 89 }] })],
    [
      "warning backup_overdue",
      codes({ backups: { ...BACKUPS, isOverdue: true, failure: "backup_target" } }),
    ],
    [
      "warning backup_behind",
      ofParts({ followed: { target: "/mnt/b", behindS: 11, failure: "backup_target" } }),
    ],
    ["fault realm_drift", ofParts({ realm: { differences: 1, first: ["client x: unknown"] } })],
  ];
  for (const [expected, found] of cases) t.same(found, [expected]);
});

t.test(
  "a certificate is told of at 90, 60 and 30 days, ever louder, and how that very one is renewed",
  async (t) => {
    const todo = (file: string, daysLeft: number) =>
      findings({ certificates: [{ file, daysLeft }] })[0]?.todo;
    t.equal(todo("etc/a.crt", 91), undefined);
    t.equal(todo("etc/a.crt", 90), "appliance restart renews it");
    t.match(todo("etc/ca/root.crt", 90), /can't renew it/, "no restart does");
    t.equal(todo("etc/a.crt", 60), "choose a day this month: appliance restart renews it");
    t.equal(todo("etc/a.crt", 30), "now: appliance restart renews it");
    t.match(
      todo("data/agent/node.crt", 30),
      /^now: the agent renews it by itself.*appliance logs agent$/,
    );
  },
);

t.test(
  "small disks are judged by their share, and those that count no files by their bytes",
  async (t) => {
    t.same(codes({ disks: [disk({ totalBytes: 20 * GIB, freeBytes: 3 * GIB })] }), []);
    t.same(codes({ disks: [disk({ totalBytes: 20 * GIB, freeBytes: 1.9 * GIB })] }), [
      "warning disk_low",
    ]);
    t.same(codes({ disks: [disk({ totalInodes: 0, freeInodes: 0 })] }), []);
  },
);

t.test(
  "the disk of the audit log is warned of at twice of what refuses jobs, with both sizes",
  async (t) => {
    const logReserve = { wantedBytes: 12 * GIB, heldBytes: 12 * GIB, segmentBytes: 16 * 1024 ** 2 };
    const at = (freeBytes: number) => {
      const disks = [disk({ totalBytes: 252 * GIB, freeBytes, logReserve })];
      return findings({ disks }).map(({ code, what }) => `${code}: ${what}`);
    };
    t.same(at(24 * GIB), []);
    const [told, ...more] = at(23 * GIB);
    t.same(more, []);
    t.match(
      told,
      /^disk_low: 23(\.0)? GiB of 252(\.0)? GiB left for .*; below 12(\.0)? GiB the audit log has new jobs refused$/,
    );
    const given = { ...logReserve, heldBytes: 2 * GIB };
    t.match(
      codes({ disks: [disk({ totalBytes: 252 * GIB, freeBytes: 30 * GIB, logReserve: given })] }),
      ["warning disk_low"],
    );
  },
);

t.test("faults come first, and every line says where to look or what to do", async (t) => {
  const all = findings({
    parts: [
      part({ name: "coordinator", restarts: 4 }),
      part({ name: "auditd", phase: "exited", lastExit: "exit 1" }),
    ],
    disks: [disk({ freeBytes: GIB / 2 })],
  });
  t.same(
    all.map(({ severity }) => severity),
    ["fault", "fault", "warning"],
  );
  t.match(all[0]?.todo, /\/log\/auditd\.log/);
  t.ok(all.every(({ what, todo }) => what.length > 10 && todo.length > 10));
});

t.test(
  "of one severity, the log comes first, then parts, work, host, identities, people",
  async (t) => {
    const told = codes(
      {
        parts: [part({ name: "vault", restarts: 4 }), part({ phase: "exited" })],
        disks: [disk({ freeBytes: GIB / 2 }), disk({ freeBytes: 9 * GIB })],
        certificates: [
          { file: "a.crt", daysLeft: -1 },
          { file: "b.crt", daysLeft: 3 },
        ],
        backups: { ...BACKUPS, isOverdue: true },
        runc: { version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" },
      },
      {
        health: {
          ...calm,
          ...{ bus: "down", loopLagMs: 1_500, clockStep: { stepMs: 5_000, agoMs: 5 } },
          ...{ hasApprover: false, plannedStopUntil: "2026-01-01T00:00:00.000Z" },
          people: { requested: [], left: ["max"] },
          nodes: [node({ state: "DEAD", loopLagMs: 1_500 }), node({ state: "DEAD" })],
        },
        frontLagMs: 1_500,
        rolledBack: { origin: "box.audit.acme/2026", seenSize: 90, by: "witness" },
        vault: { ...well, awaitsClock: true },
        followed: { target: "/mnt/b", behindS: 11, failure: null },
        realm: { differences: 1, first: ["client x: unknown"] },
      },
    );
    t.same(told, [
      ...["fault audit_rolled_back", "fault part_down", "fault bus_down", "fault node_dead"],
      ...["fault node_dead", "fault disk_full", "fault certificate_expiring", "fault realm_drift"],
      ...["warning vault_clock", "warning part_restarts", "warning coordinator_slow"],
      ...["warning clock_set", "warning single_person", "warning planned_stop"],
      ...["warning node_slow", "warning s3_front_slow", "warning disk_low"],
      ...["warning certificate_expiring", "warning backup_overdue", "warning backup_behind"],
      ...["warning person_left", "warning runc_escapes"],
    ]);
  },
);
