import t from "tap";
import { endOfLog } from "../../../src/commands/decisions/end-of-log.ts";

t.test("what went wrong is shown, however deep the stack below it", async (t) => {
  const error = new Error("the schema of coordinator.db is newer: 34 > 33");
  const frames = Array.from({ length: 12 }, (_, at) => `    at open (file:///app/a.mjs:${at}:1)`);
  const log = [
    ...["starts", "file:///app/a.mjs:9", "    throw new Error(", "    ^", ""],
    ...[String(error), ...frames, "  code: 'schema_newer'", "}", "", "Node.js v26.10.0", ""],
  ].join("\n");
  t.equal(
    endOfLog(log),
    [
      ...["  starts", "  file:///app/a.mjs:9", "      throw new Error("],
      ...[`  ${String(error)}`, "    code: 'schema_newer'"],
    ].join("\n"),
  );
});

t.test("so it is of Java, and a long line is cut", async (t) => {
  const log = [
    "ERROR: Failed to start server",
    "java.lang.RuntimeException: no database",
    "\tat org.Main.main(Main.java:1)",
    "\t... 7 more",
    "Caused by: java.net.ConnectException: refused",
    "\tat java.base/Net.connect(Net.java)",
    "x".repeat(1_000),
  ].join("\n");
  const shown = endOfLog(log).split("\n");
  t.match(shown[2], /Caused by: .*refused/);
  t.equal(shown.at(-1)?.length, 402);
});

t.test("of a log without a word nothing is shown", async (t) => t.equal(endOfLog("\n\n"), ""));
