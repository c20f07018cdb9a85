import t from "tap";
import { byUse, refusedShare, usedShare } from "../../src/pages/appliance/disk-use.ts";
import { findingLink } from "../../src/pages/appliance/finding-link.ts";
import { partWord } from "../../src/pages/appliance/part-word.ts";

const disk = (holds: string, freeBytes: number, refusesBelowBytes: number | null = null) => ({
  ...{ holds, totalBytes: 100, freeBytes, refusesBelowBytes },
});

t.test("the fullest disk comes first", async (t) => {
  const disks = byUse([disk("logs", 60), disk("objects", 5), disk("audit log", 30)]);
  t.same(
    disks.map(({ holds }) => holds),
    ["objects", "audit log", "logs"],
  );
  t.equal(usedShare(disk("logs", 60)), 0.4);
  t.equal(usedShare({ totalBytes: 0, freeBytes: 0 }), 0, "a disk that says no size is not full");
});

t.test("the audit log's disk shows from where new jobs are refused", async (t) => {
  t.equal(refusedShare(disk("audit log", 30, 20)), 0.8);
  t.equal(refusedShare(disk("logs", 30)), null);
  t.equal(refusedShare(disk("audit log", 30, 200)), 0, "more than the disk has");
});

t.test("a part that somebody stopped is told otherwise than one that ended", async (t) => {
  t.match(partWord("exited", true), { word: "stopped", tone: "quiet" });
  t.match(partWord("exited", false), { word: "ended", tone: "bad" });
  t.match(partWord("healthy", true), { word: "healthy" }, "it is held only once it is down");
  t.match(partWord("unhealthy", false), { word: "does not answer", tone: "bad" });
});

t.test(
  "a finding leads to the page that helps, and nowhere where the host alone does",
  async (t) => {
    const pages: [string, string | null][] = [
      ["key_expiring", "/keys"],
      ["node_dead", "/nodes"],
      ["worker_quarantined", "/nodes"],
      ["single_person", "/people"],
      ["service_account_orphaned", "/people"],
      ["audit_halted", "/audit"],
      ["disk_full", null],
      ["part_down", null],
    ];
    for (const [code, to] of pages) t.equal(findingLink(code)?.to ?? null, to, code);
  },
);
