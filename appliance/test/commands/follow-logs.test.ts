import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { followLogs } from "../../src/commands/follow-logs.ts";

const line = (second: number, msg: string): string =>
  `${JSON.stringify({ level: 30, time: second * 1_000, msg })}\n`;

t.test("the last lines of several parts come in the order of their times", async (t) => {
  const dir = t.testdir({
    "a.log": line(1, "a1") + line(4, "a4") + line(6, "a6"),
    "b.log": line(2, "b2") + line(5, "b5"),
  });
  const said: string[] = [];
  const files = ["a", "b", "gone"].map((part) => ({ part, file: join(dir, `${part}.log`) }));
  await followLogs(files, { follow: false, lines: 2 }, (each) => said.push(each));
  t.same(
    said.map((each) => each.slice(-2)),
    ["b2", "a4", "b5", "a6"],
  );
  t.match(said[0], /^1970-01-01 00:00:02\.000 b {4}/);
});

t.test("what comes is followed into the file that a rotation puts in its place", async (t) => {
  const dir = t.testdir({ "a.log": line(1, "old") });
  const file = join(dir, "a.log");
  const ended = new AbortController();
  const said: string[] = [];
  const waiting = new Map<string, () => void>();
  const until = (text: string): Promise<void> => {
    if (said.some((each) => each.endsWith(text))) return Promise.resolve();
    return new Promise((resolve) => waiting.set(text, resolve));
  };
  const following = followLogs(
    [{ part: "a", file }],
    { follow: true, lines: 0 },
    (each) => {
      said.push(each);
      for (const [text, resolve] of waiting) if (each.endsWith(text)) resolve();
    },
    ended.signal,
  );
  appendFileSync(file, line(2, "second").slice(0, 10));
  appendFileSync(file, line(2, "second").slice(10));
  await until("second");
  renameSync(file, `${file}.1`);
  writeFileSync(file, line(3, "third"));
  await until("third");
  ended.abort();
  await following;
  t.same(
    said.map((each) => each.split(" ").at(-1)),
    ["second", "third"],
  );
});
