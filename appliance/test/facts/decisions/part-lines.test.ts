import t from "tap";
import { partLines } from "../../../src/facts/decisions/part-lines.ts";

const line = (level: number, msg: string, more: object = {}): string =>
  JSON.stringify({ level, time: 1_000, name: "vault", msg, ...more });

t.test("the last lines are told by their words alone, the oldest first", async (t) => {
  const text = [
    line(30, "first"),
    line(40, "the disk is slow", { path: "/secret/place", user: "ada" }),
    line(50, "it failed", { err: { message: "password=hunter2" } }),
    "",
  ].join("\n");
  t.same(partLines(text, 2), [
    { at: 1_000, level: "warn", text: "the disk is slow" },
    { at: 1_000, level: "error", text: "it failed" },
  ]);
});

t.test("requests and what helps to find a defect leave room for the rest", async (t) => {
  const text = [
    line(30, "started"),
    line(30, "request completed", { reqId: "r1" }),
    line(20, "detail"),
    line(40, "request refused", { reqId: "r2" }),
  ].join("\n");
  t.same(
    partLines(text, 5).map(({ text }) => text),
    ["started", "request refused"],
  );
});

t.test("what a program of others writes stays with root", async (t) => {
  const others = [
    "2026-11-29 LOG: connection authorized: user=ada",
    '{"level":"info","ts":1,"msg":"login of ada"}',
    '{"level":30,"time":-1,"msg":"before time"}',
    "{",
  ];
  t.same(partLines(others.join("\n"), 5), []);
  t.equal(partLines(line(30, "x".repeat(1_000)), 1)[0]?.text.length, 300);
});
