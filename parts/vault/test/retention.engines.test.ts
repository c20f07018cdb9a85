import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { firstKeptMonth, overdue } from "../src/decisions/retention.ts";
import { until } from "@resontech/audit/testing/until";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { backdate } from "./helper/backdate.ts";
import { gateOf, startedBoth } from "./helper/started-both.ts";
import { say } from "./helper/say.ts";
import { setHold } from "./helper/privacy-requests.ts";

t.test("a month is kept until all of it is older than its class allows", async (t) => {
  t.equal(firstKeptMonth(Date.UTC(2026, 10, 30, 23, 59), 24), "2024-11");
  t.equal(firstKeptMonth(Date.UTC(2026, 11, 1), 24), "2024-12");
  t.equal(firstKeptMonth(Date.UTC(2026, 0, 31), 1), "2025-12");
  const all = ["usr-1", "usr-2", "anonymous"].flatMap((subject) =>
    ["2024-11", "2024-12"].map((month) => ({ subject, month })),
  );
  t.same(overdue("disclosures", "2024-12", all, new Set(["usr-2"])), [
    { subject: "usr-1", month: "2024-11" },
  ]);
  t.same(overdue("anonymous", "2024-12", all, new Set()), [
    { subject: "anonymous", month: "2024-11" },
  ]);
});

t.test("what is too old is ended on record, what a legal hold covers stays", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  for (const subject of ["usr-1", "usr-1", "usr-held", "anonymous"])
    await say(gate, subject, "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 4);
  t.match(await vault.ask(setHold("usr-held")), { holds: ["case-7"] });
  await vault.stop();
  backdate(auditd.root, null);
  await vault.start();
  await until(async () => (await vault.status()).awaitsClock);
  await sleep(500);
  t.match(
    await vault.status(),
    { sealed: 4, erased: 0, underWay: 0, fault: null },
    "nobody vouches for the clock",
  );
  await auditd.control({ verb: "clock-is-right" });
  // The old keys were wrapped for another month, and can't be opened: what is destroyed need not be.
  await until(async () => {
    const { erased, underWay, fault } = await vault.status();
    return (erased === 3 && underWay === 0) || fault !== null;
  });
  t.match(await vault.status(), {
    erased: 3,
    sealed: 1,
    keys: 1,
    fault: null,
    underWay: 0,
    awaitsClock: false,
  });
  await until(
    async () =>
      (await readLeaves(auditd.logDir)).filter(({ type }) => type === "privacy.retention")
        .length === 4,
  );
  const leaves = (await readLeaves(auditd.logDir)).filter(
    ({ type }) => type === "privacy.retention",
  );
  t.same(
    leaves.map(({ phase }) => phase),
    ["requested", "completed", "requested", "completed"],
  );
  t.match(leaves[1]!.detail, {
    before: firstKeptMonth(Date.now(), 24) + "-01T00:00:00.000Z",
    erased: [{ commitments_count: 2 }],
  });
  t.match(leaves[3]!.detail, { erased: [{ commitments_count: 1 }] });
});
