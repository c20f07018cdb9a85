import { CALM_HEALTH } from "@resontech/house/calm-facts";
import { factsOfHost } from "@resontech/house/facts-of-host";
import t from "tap";
import { toldFindings } from "../../src/findings/told-findings.ts";

const NOW = 1_000_000;
const well = factsOfHost({ at: NOW - 14_000 });

t.test("of an appliance that is well nothing is told", async (t) => {
  t.same(toldFindings(CALM_HEALTH, well, NOW), []);
});

t.test(
  "what the coordinator knows and what its host wrote is one list, faults first",
  async (t) => {
    const host = factsOfHost({
      at: NOW,
      findings: [
        { severity: "fault", code: "disk_full", what: "no room", todo: "make room" },
        { severity: "warning", code: "certificate_expiring", what: "soon", todo: "renew" },
      ],
    });
    const told = toldFindings({ ...CALM_HEALTH, hasApprover: false, bus: "down" }, host, NOW);
    t.same(
      told.map(({ severity, code }) => `${severity} ${code}`),
      [
        "fault bus_down",
        "fault disk_full",
        "warning single_person",
        "warning certificate_expiring",
      ],
    );
  },
);

t.test("a host of which nothing is known is a fault, never a calm answer", async (t) => {
  t.match(toldFindings(CALM_HEALTH, null, NOW), [{ severity: "fault", code: "host_unknown" }]);
});

t.test(
  "what the supervisor wrote stays told when it falls silent, with how old it is",
  async (t) => {
    const old = factsOfHost({
      at: NOW - 90_000,
      findings: [{ severity: "fault", code: "disk_full", what: "no room", todo: "make room" }],
    });
    t.match(toldFindings(CALM_HEALTH, old, NOW), [
      { code: "supervisor_silent", what: /for 1m ?30s|for 90/ },
      { code: "disk_full" },
    ]);
  },
);
