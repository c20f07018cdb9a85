import type { JobLogsReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import {
  addressOfLine,
  firstLog,
  inReadingOrder,
  lineOfAddress,
} from "../../src/pages/job/logs/line-address.ts";
import { type LogRow, NO_FILTER, ParsedLines, rowsOf } from "../../src/pages/job/logs/log-rows.ts";
import { LogText } from "../../src/pages/job/logs/log-text.ts";
import { parsedLine } from "../../src/pages/job/logs/parsed-line.ts";

const record = (second: number, logger: string, level: string, text: string) =>
  `2026-11-30 10:00:${String(second).padStart(2, "0")},123 - ${logger} - ${level} - [run=1] - ${text}`;
const LINES = [
  record(0, "FederatedClient", "INFO", "a"),
  record(1, "Communicator", "INFO", "b"),
  record(2, "ClientRunner", "INFO", "c"),
  record(3, "GenericClientExecutor", "INFO", "epoch 1"),
  "loss 0.5",
  record(4, "ClientRunner", "INFO", "d"),
  record(5, "ClientRunner", "WARNING", "slow"),
  "Traceback (most recent call last):",
  '  File "x.py", line 1',
  "ValueError: bad",
];
const NONE: ReadonlySet<number> = new Set();
const said = (rows: readonly LogRow[]) =>
  rows.map((row) => (row.kind === "line" ? row.text.split(" - ").at(-1) : `${row.count} folded`));
const parsed = LINES.map(parsedLine);

t.test(
  "what NVFlare says is folded, its warnings are not, and short runs are left as they are",
  async (t) => {
    t.same(said(rowsOf(parsed, 0, NO_FILTER, NONE)), [
      ...["3 folded", "epoch 1", "loss 0.5", "d", "slow", "Traceback (most recent call last):"],
      ...['  File "x.py", line 1', "ValueError: bad"],
    ]);
    t.same(said(rowsOf(parsed, 7, NO_FILTER, new Set([7]))).slice(0, 4), [
      ...["3 folded", "a", "b", "c"],
    ]);
    t.same(said(rowsOf(parsed, 0, { ...NO_FILTER, areFoldsOpen: true }, NONE)).slice(0, 2), [
      ...["a", "b"],
    ]);
    t.same(said(rowsOf(parsed, 0, NO_FILTER, NONE, 1)).slice(0, 2), ["3 folded", "a"]);
  },
);

t.test("a level brings the lines that go with its records", async (t) => {
  t.same(said(rowsOf(parsed, 0, { ...NO_FILTER, level: "warning" }, NONE)), [
    ...["slow", "Traceback (most recent call last):", '  File "x.py", line 1', "ValueError: bad"],
  ]);
  t.same(said(rowsOf(parsed, 0, { ...NO_FILTER, level: "error" }, NONE)), [
    ...["Traceback (most recent call last):", '  File "x.py", line 1', "ValueError: bad"],
  ]);
});

t.test("a span of time brings records and what was printed after them", async (t) => {
  const at = (second: number) => Date.parse(`2026-11-30T10:00:0${second}.000Z`);
  const rows = rowsOf(parsed, 0, { ...NO_FILTER, from: at(3), to: at(5) }, NONE);
  t.same(said(rows), ["epoch 1", "loss 0.5", "d"]);
});

t.test(
  "a progress bar shows its last state, and a line of Windows is no progress bar",
  async (t) => {
    t.equal(parsedLine("10 %\r 20 %\r 30 %").text, " 30 %");
    t.equal(parsedLine("30 %\r").text, "30 %");
    t.equal(parsedLine("plain").text, "plain");
    t.equal(parsedLine("\u001b[31m2026-11-30 10:00:00,1 - x - ERROR - y\u001b[0m").level, "error");
  },
);

t.test("lines are parsed once, and anew where they changed or went", async (t) => {
  const lines = new ParsedLines();
  const [first, second] = lines.of(["a", "b"], 0);
  const [again, grown] = lines.of(["a", "bc"], 0);
  t.equal(again, first);
  t.not(grown, second);
  t.equal(grown?.text, "bc");
  const [moved, other] = lines.of(["bc", "d"], 1);
  t.equal(moved, grown);
  t.equal(other?.text, "d");
  t.equal(lines.of(["x"], 3).length, 1);
});

t.test("each line knows the byte that it begins at, also behind a gap", async (t) => {
  const text = new LogText();
  text.stored(100, 114, "rest\nzwölf\nx\n");
  t.same(text.lines, ["zwölf", "x", ""]);
  t.same(text.offsets, [105, 112, 114]);
  text.live({ offset: 114, bytes: 4, text: "y\nzz" });
  t.same(text.offsets, [105, 112, 114, 116]);
  text.live({ offset: 130, bytes: 2, text: "e\n" });
  t.match(text.lines.slice(-4), ["zz", /14 bytes are not shown/, "e", ""]);
  t.same(text.offsets.slice(-2), [130, 132]);
});

const log = (member: string, site: string | null, attempt: number, storedBytes: number) =>
  ({
    ...{ member, site, attempt, storedBytes },
    role: site === null ? "server" : "client",
  }) as JobLogsReply[number];
const LOGS = [
  log("m0", null, 2, 9),
  log("m1", "site-1", 1, 9),
  log("m2", "site-1", 2, 0),
  log("m10", "site-10", 2, 9),
  log("m3", "site-2", 2, 9),
];

t.test("sites stand before the server, their last attempt first", async (t) => {
  t.same(
    inReadingOrder(LOGS).map(({ member }) => member),
    ["m2", "m3", "m10", "m1", "m0"],
  );
  t.equal(firstLog(LOGS)?.member, "m3", "who printed nothing is not shown first");
  t.equal(firstLog([]), null);
});

t.test("a line's address leads back to it", async (t) => {
  for (const { member } of LOGS)
    t.same(lineOfAddress(LOGS, addressOfLine(LOGS, member, 12)), { member, at: 12 });
  t.equal(addressOfLine(LOGS, "m2", 12), "#site-1:12");
  t.equal(addressOfLine(LOGS, "m1", 12), "#site-1@1:12");
  t.same(lineOfAddress(LOGS, "#server"), { member: "m0", at: null });
  for (const hash of ["", "#", "#none:1", "#site-1@9:1", "#%E0%A4%A:1"])
    t.equal(lineOfAddress(LOGS, hash), null, hash);
});
