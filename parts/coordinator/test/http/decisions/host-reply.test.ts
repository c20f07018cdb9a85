import { HostReply } from "@resontech/contracts/http-appliance";
import { backupFact, factsOfHost, partFact } from "@resontech/house/facts-of-host";
import t from "tap";
import { Value } from "typebox/value";
import { hostReply } from "../../../src/http/decisions/host-reply.ts";

t.test(
  "what the supervisor wrote is told with instants in words, and nothing is lost",
  async (t) => {
    const reply = hostReply(
      factsOfHost({
        at: 15_000,
        parts: [
          partFact({
            ...{ part: "vault", since: 2_000, memoryBytes: null },
            lines: [{ at: 3_000, level: "warn", text: "slow" }],
          }),
          partFact({ part: "nats", phase: "idle", since: null }),
        ],
        certificates: [{ file: "etc/ca/root.crt", expiresAt: 9_000 }],
        disks: [
          { holds: "logs", totalBytes: 10, freeBytes: 4, totalInodes: 1, freeInodes: 1 },
          {
            ...{ holds: "audit log", totalBytes: 10, freeBytes: 4, totalInodes: 1, freeInodes: 1 },
            refusesBelowBytes: 2,
          },
        ],
        backup: backupFact({ takenAt: null }),
        alerts: [
          {
            ...{ alert: "PartDown", severity: "critical", since: 1_000, summary: "s", todo: "t" },
            runbook: "part-down",
          },
        ],
      }),
    );
    t.ok(Value.Check(HostReply, reply), JSON.stringify(reply));
    t.match(reply, {
      at: "1970-01-01T00:00:15.000Z",
      parts: [
        { part: "vault", since: "1970-01-01T00:00:02.000Z", lines: [{ text: "slow" }] },
        { part: "nats", phase: "idle", since: null },
      ],
      disks: [{ refusesBelowBytes: null }, { refusesBelowBytes: 2 }],
      backup: { takenAt: null, nextAt: "1970-01-01T01:00:01.000Z" },
      alerts: [{ alert: "PartDown", since: "1970-01-01T00:00:01.000Z" }],
    });
  },
);

t.test("without backups and without a word of the notifier, neither is told as none", async (t) => {
  t.match(hostReply(factsOfHost()), { backup: null, alerts: null });
});
