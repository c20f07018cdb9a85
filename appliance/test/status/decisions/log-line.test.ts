import t from "tap";
import { logTime, readLogLine } from "../../../src/status/decisions/log-line.ts";

t.test("a line of ours becomes level, words and fields, with the time beside it", async (t) => {
  const { at, text } = readLogLine(
    '{"level":40,"time":1795615387123,"pid":7,"hostname":"h","node":"gpu-3","msg":"node is silent"}',
  );
  t.equal(logTime(at), "2026-11-25 14:03:07.123");
  t.equal(text, "warn  node is silent node=gpu-3");
});

t.test("an engine's line stays as it is, with the time that it tells", async (t) => {
  const nats = readLogLine("[12] 2026/11/25 14:03:07.5 [INF] Server is ready");
  t.match(nats, {
    at: Date.parse("2026-11-25T14:03:07.500Z"),
    text: "[12] 2026/11/25 14:03:07.5 [INF] Server is ready",
  });
  t.match(readLogLine('time="2026-11-25T14:03:07+01:00" level=info'), {
    at: Date.parse("2026-11-25T13:03:07Z"),
  });
  t.match(readLogLine("no time at all"), { at: null, text: "no time at all" });
  t.equal(logTime(null).length, 23);
});

t.test("what somebody made a part write moves no cursor", async (t) => {
  t.equal(
    readLogLine('{"level":30,"time":0,"msg":"a\\u001b[2Jb\\u202ec"}').text,
    "info  a\\u{1b}[2Jb\\u{202e}c",
  );
  t.equal(readLogLine('{"level":30 broken').text, '{"level":30 broken');
});
