import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { CallJournal } from "../../src/records/call-journal.ts";

t.test(
  "what is appended is there, in a file of its day, and a cut line stands alone",
  async (t) => {
    const folder = t.testdir();
    let now = new Date("2026-03-01T23:59:59.000Z");
    const first = await CallJournal.open(folder, () => now);
    await first.journal.append("one\n");
    now = new Date("2026-03-02T00:00:00.000Z");
    await first.journal.append("two\n");
    await first.journal[Symbol.asyncDispose]();
    appendFileSync(join(folder, "2026-03-02.ndjson"), '{"cut');
    const second = await CallJournal.open(folder, () => now);
    await second.journal.append("three\n");
    await second.journal[Symbol.asyncDispose]();
    t.same(readdirSync(folder).sort(), ["2026-03-01.ndjson", "2026-03-02.ndjson"]);
    t.equal(readFileSync(join(folder, "2026-03-02.ndjson"), "utf8"), 'two\n{"cut\nthree\n');
  },
);
