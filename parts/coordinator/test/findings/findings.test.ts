import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { FindingFacts } from "@resontech/frame/finding";
import { CALM_HEALTH as calm, calmFacts } from "@resontech/house/calm-facts";
import t from "tap";
import { coordinator } from "../../part.ts";

const ACCOUNT = { account: "sa_1", name: "nightly", project: "study" };
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
const findings = (said: Partial<FindingFacts>) =>
  Object.values(coordinator.findings ?? {}).flatMap((of) => of(calmFacts(said)));
const codes = (said: Partial<FindingFacts>) =>
  findings(said).map(({ severity, code }) => `${severity} ${code}`);
const inHealth = (change: Partial<CoordinatorHealth>) => codes({ health: { ...calm, ...change } });

t.test("a coordinator that is well has nothing to say", async (t) => {
  t.same(findings({}), []);
});

t.test(
  "one that says nothing is told of where it seems well, and no other part tells so",
  async (t) => {
    t.same(codes({ health: null }), ["fault coordinator_silent"]);
    t.match(findings({ health: null })[0]!.todo, "/log/coordinator.log");
    t.same(codes({ health: null, isHealthy: (part) => part !== "coordinator" }), []);
  },
);

t.test("each thing that can be wrong is named with what to do", async (t) => {
  const cases: [string, string[]][] = [
    ["fault bus_down", inHealth({ bus: "down" })],
    ["fault storage_down", inHealth({ storage: "unavailable" })],
    ["fault audit_away", inHealth({ audit: { ...calm.audit, state: "away" } })],
    ["fault audit_halted", inHealth({ audit: { ...calm.audit, state: "halted" } })],
    ["fault audit_draining", inHealth({ audit: { ...calm.audit, state: "draining" } })],
    ["warning audit_behind", inHealth({ audit: { ...calm.audit, oldestWaitMs: 11_000 } })],
    ["warning coordinator_slow", inHealth({ loopLagMs: 1_500 })],
    ["warning auditd_slow", inHealth({ audit: { ...calm.audit, loopLagMs: 1_500 } })],
    ["fault nodes_not_judged", inHealth({ brake: "many_suspect" })],
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
    ["fault database_full", inHealth({ database: "full" })],
    ["fault database_fails", inHealth({ database: "failing" })],
    ["warning single_person", inHealth({ hasApprover: false })],
  ];
  for (const [expected, found] of cases) t.same(found, [expected]);
});
