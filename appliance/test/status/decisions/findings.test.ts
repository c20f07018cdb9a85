import type { CoordinatorHealth, NodeHealth } from "@resontech/contracts/coordinator-health";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import t from "tap";
import {
  type DiskFacts,
  findingsOf,
  type StatusFacts,
} from "../../../src/status/decisions/findings.ts";
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
const calm: CoordinatorHealth = {
  ...{
    loopLagMs: 5,
    brake: null,
    plannedStopUntil: null,
    bus: "up",
    database: "ok",
    storage: "ok",
    clockStep: null,
    nodes: [node()],
    endingKeys: [],
    hasApprover: true,
    people: { requested: [], left: [] },
  },
  audit: { state: "ok", waiting: 3, oldestWaitMs: 20, loopLagMs: 5 },
};
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
const facts = (change: Partial<StatusFacts> = {}): StatusFacts => ({
  ...{
    parts: [part()],
    health: calm,
    frontLagMs: 5,
    rolledBack: null,
    realm: { differences: 0, first: [] },
    backups: null,
    vault: well,
    disks: [disk()],
    certificates: [{ file: "a.crt", daysLeft: 300 }],
    runc: { version: "1.3.3", build: "" },
  },
  logOf: (name) => `/log/${name}.log`,
  ...change,
});
const ACCOUNT = { account: "sa_1", name: "nightly", project: "study" };
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const codes = (change: Partial<StatusFacts>) =>
  findingsOf(facts(change)).map(({ severity, code }) => `${severity} ${code}`);
const inHealth = (change: Partial<CoordinatorHealth>) => codes({ health: { ...calm, ...change } });

const BACKUPS = {
  target: "/mnt/b",
  isOverdue: false,
  takenAtMs: null,
  failure: null,
  followed: null,
};

t.test("a runc with known escapes is a warning that names the advisories", async (t) => {
  const runc = { version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" };
  t.match(findingsOf(facts({ runc })), [
    { severity: "warning", code: "runc_escapes", what: /1\.1\.5\+ds1.*CVE-2025-31133/ },
  ]);
  t.same(codes({ runc: null }), []);
});

t.test("an appliance that is well has nothing to say", async (t) => {
  t.same(findingsOf(facts()), []);
  t.same(codes({ health: null }), [], "a part that is down says so itself");
});

t.test(
  "of a log that was restored, and of which no witness says anything, nobody is said to have seen more",
  async (t) => {
    const [found] = findingsOf(
      facts({ rolledBack: { origin: "box.audit.acme/2026", seenSize: 90, by: "restore" } }),
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
    ["fault coordinator_silent", codes({ parts: [part({ name: "coordinator" })], health: null })],
    ["fault bus_down", inHealth({ bus: "down" })],
    ["fault storage_down", inHealth({ storage: "unavailable" })],
    ["fault audit_away", inHealth({ audit: { ...calm.audit, state: "away" } })],
    ["fault audit_halted", inHealth({ audit: { ...calm.audit, state: "halted" } })],
    ["fault audit_draining", inHealth({ audit: { ...calm.audit, state: "draining" } })],
    ["warning audit_behind", inHealth({ audit: { ...calm.audit, oldestWaitMs: 11_000 } })],
    ["warning coordinator_slow", inHealth({ loopLagMs: 1_500 })],
    ["warning auditd_slow", inHealth({ audit: { ...calm.audit, loopLagMs: 1_500 } })],
    ["warning s3_front_slow", codes({ frontLagMs: 1_500 })],
    [
      "fault audit_rolled_back",
      codes({ rolledBack: { origin: "box.audit.acme/2026", seenSize: 90, by: "witness" } }),
    ],
    [
      "fault vault_blocked",
      codes({ vault: { ...well, fault: { code: "spool_blocked", message: "a line is torn" } } }),
    ],
    ["fault vault_holds", codes({ vault: { ...well, holdsInDoubt: true } })],
    ["warning vault_clock", codes({ vault: { ...well, awaitsClock: true } })],
    [
      "fault vault_fails",
      codes({ vault: { ...well, fault: { code: "SQLITE_FULL", message: "disk is full" } } }),
    ],
    ["fault nodes_not_judged", inHealth({ brake: "many_suspect" })],
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
    ["warning node_disk_low", inHealth({ nodes: [node({ diskFreeBytes: 2 * GIB })] })],
    ["fault node_disk_full", inHealth({ nodes: [node({ diskFreeBytes: GIB, hasDisk: false })] })],
    ["fault disk_full", codes({ disks: [disk({ freeBytes: GIB / 2 })] })],
    ["warning disk_low", codes({ disks: [disk({ freeBytes: 9 * GIB })] })],
    ["fault inodes_full", codes({ disks: [disk({ freeInodes: 100 })] })],
    ["fault certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: -1 }] })],
    ["warning certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: 3 }] })],
    ["warning certificate_expiring", codes({ certificates: [{ file: "a.crt", daysLeft: 89 }] })],
    [
      "warning key_expiring",
      inHealth({ endingKeys: [{ key: "k_1", username: "alice", expiresAt: inDays(13.5) }] }),
    ],
    [
      "warning service_account_expiring",
      inHealth({ endingAccounts: [{ ...ACCOUNT, expiresAt: inDays(13.5) }] }),
    ],
    [
      "fault service_account_expiring",
      inHealth({ endingAccounts: [{ ...ACCOUNT, expiresAt: inDays(-0.5) }] }),
    ],
    [
      "fault key_expiring",
      inHealth({ endingKeys: [{ key: "k_1", username: "alice", expiresAt: inDays(-0.5) }] }),
    ],
    [
      "warning backup_overdue",
      codes({ backups: { ...BACKUPS, isOverdue: true, failure: "backup_target" } }),
    ],
    [
      "warning backup_behind",
      codes({ backups: { ...BACKUPS, followed: { behindS: 11, failure: "backup_target" } } }),
    ],
    ["fault realm_drift", codes({ realm: { differences: 1, first: ["client x: unknown"] } })],
    [
      "warning role_requested",
      inHealth({
        people: { requested: [{ username: "erika", role: "platform-admin" }], left: [] },
      }),
    ],
    ["warning person_left", inHealth({ people: { requested: [], left: ["max"] } })],
    [
      "warning administrator_restored",
      inHealth({
        people: {
          ...{ requested: [], left: [] },
          restored: [{ userId: "u_1", username: "anna", restoredAt: inDays(-1) }],
        },
      }),
    ],
    [
      "warning group_conflict",
      inHealth({
        people: {
          ...{ requested: [], left: [] },
          givenNothing: [{ username: "aude", group: "corp/doctors", project: "screening" }],
        },
      }),
    ],
    [
      "warning service_account_orphaned",
      inHealth({
        orphanedAccounts: [
          {
            account: "sa_1",
            name: "nightly",
            project: "p",
            projectId: "p_1",
            orphanedAt: inDays(-1),
          },
        ],
      }),
    ],
  ];
  for (const [expected, found] of cases) t.same(found, [expected]);
});

t.test(
  "a certificate is told of at 90, 60 and 30 days, ever louder, and how that very one is renewed",
  async (t) => {
    const todo = (file: string, daysLeft: number) =>
      findingsOf(facts({ certificates: [{ file, daysLeft }] }))[0]?.todo;
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
      return findingsOf(facts({ disks })).map(({ code, what }) => `${code}: ${what}`);
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
  const all = findingsOf(
    facts({
      parts: [
        part({ name: "coordinator", restarts: 4 }),
        part({ name: "auditd", phase: "exited", lastExit: "exit 1" }),
      ],
      disks: [disk({ freeBytes: GIB / 2 })],
    }),
  );
  t.same(
    all.map(({ severity }) => severity),
    ["fault", "fault", "warning"],
  );
  t.match(all[0]?.todo, /\/log\/auditd\.log/);
  t.ok(all.every(({ what, todo }) => what.length > 10 && todo.length > 10));
});
