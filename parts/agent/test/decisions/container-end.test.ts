import t from "tap";
import {
  type End,
  evaluateEnd,
  isEndAsOrdered,
  toldExitCode,
} from "../../src/decisions/container-end.ts";

const end = (change: Partial<End>): End => ({
  exitCode: 0,
  oomKilled: false,
  verdict: null,
  printed: null,
  isDiskFull: false,
  limits: { memoryBytes: 5, diskBytes: 7 },
  ...change,
});
const failed = {
  kind: "failed",
  reason: "user_exception",
  message: "ValueError: x",
  detail: "Traceback",
} as const;
const finished = { kind: "finished" } as const;

const TABLE: [what: string, end: End, reason: string | null][] = [
  ["all went well", end({ verdict: finished }), null],
  ["a payload without a last word, ended well", end({}), null],
  ["finished, then swept away", end({ verdict: finished, exitCode: 137 }), null],
  ["finished, on a disk that it filled", end({ verdict: finished, isDiskFull: true }), null],
  ["the runner's own word", end({ verdict: failed, exitCode: 1 }), "user_exception"],
  [
    "an exception because the disk was full",
    end({ verdict: failed, exitCode: 1, isDiskFull: true }),
    "disk_limit",
  ],
  [
    "an exception because memory was short",
    end({ verdict: failed, exitCode: 76 }),
    "out_of_memory",
  ],
  ["killed for memory, by PID 1's word", end({ exitCode: 76 }), "out_of_memory"],
  [
    "killed for memory, by the engine's word",
    end({ exitCode: 137, oomKilled: true }),
    "out_of_memory",
  ],
  ["its lease expired", end({ exitCode: 75 }), "lease_lost"],
  ["its lease expired after it had failed", end({ exitCode: 75, verdict: failed }), "lease_lost"],
  ["killed from outside", end({ exitCode: 137 }), "container_failed"],
  ["stopped from outside", end({ exitCode: 143 }), "container_failed"],
  ["just ended", end({ exitCode: 7 }), "payload_exited"],
  ["its program is not in the image", end({ exitCode: 127 }), "payload_exited"],
];

t.test("each end has one meaning", (t) => {
  for (const [what, facts, reason] of TABLE)
    t.equal(evaluateEnd(facts)?.reason ?? null, reason, what);
  t.end();
});

t.test("the last line of what ended by itself is in its message", (t) => {
  const said = (printed: string | null) => evaluateEnd(end({ exitCode: 3, printed }));
  const printed = "loading\nno such device: cuda:0\n\n";
  t.strictSame(said(printed), {
    reason: "payload_exited",
    message: "the payload ended with exit code 3: no such device: cuda:0",
    detail: printed,
  });
  for (const nothing of [null, "", " \n"])
    t.equal(said(nothing)?.message, "the payload ended with exit code 3");
  t.ok((said("x".repeat(9_999))?.message.length ?? 0) < 400);
  t.end();
});

t.test("what the user needs to see is kept", (t) => {
  t.strictSame(evaluateEnd(end({ verdict: failed, exitCode: 1 })), {
    reason: "user_exception",
    message: "ValueError: x",
    detail: "Traceback",
  });
  const full = evaluateEnd(end({ verdict: failed, exitCode: 1, isDiskFull: true }));
  t.equal(full?.detail, "Traceback");
  t.match(full?.message, /7 bytes/);
  t.match(evaluateEnd(end({ exitCode: 76 }))?.message, /5 bytes/);
  t.end();
});

t.test("people are told a code that they know, and none of what PID 1 did by itself", async (t) => {
  const told = (exitCode: number, oomKilled = false) => toldExitCode({ exitCode, oomKilled });
  t.same(
    [0, 1, 137, 143].map((code) => told(code)),
    [0, 1, 137, 143],
  );
  t.equal(told(76), 137, "PID 1 saw a process run out of memory");
  t.equal(told(0, true), 137);
  t.equal(told(75), null, "the lease was lost");
});

t.test("who was asked to commit and ends by its own word ends as it should", async (t) => {
  t.equal(isEndAsOrdered(end({ exitCode: 143 }), false), true);
  t.equal(isEndAsOrdered(end({ exitCode: 137 }), true), true, "its agent ended it");
  t.equal(isEndAsOrdered(end({ exitCode: 137 }), false), false, "somebody else did");
  t.equal(isEndAsOrdered(end({ exitCode: 137, oomKilled: true }), true), false);
  t.equal(isEndAsOrdered(end({ verdict: finished }), false), false, "its last round ended well");
  t.equal(isEndAsOrdered(end({ verdict: failed, exitCode: 1 }), true), false, "it failed");
  t.equal(isEndAsOrdered(end({ exitCode: 75 }), true), false, "its lease was lost");
});
