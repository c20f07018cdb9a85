import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { readRunnerEvents } from "../../src/members/runner-events.ts";
import type { JobFile } from "../../src/substrate/area.ts";
import { MountedFile } from "../../src/substrate/container-host/files/mounted-file.ts";

function fileOf(t: Test, ...lines: string[]): JobFile {
  const folder = t.testdir({});
  const path = join(folder, "events.jsonl");
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  const file = MountedFile.open(folder, path);
  if (file === null) throw new Error("it is not there");
  t.teardown(() => file[Symbol.dispose]());
  return file;
}

t.test("no more events than there is room for are read, and the rest is gone on with", (t) => {
  const file = fileOf(
    t,
    '{"kind":"ready"}',
    "\u00e4 is no event",
    '{"kind":"job-started","nvflareJob":"j"}',
    '{"kind":"ready"}',
  );
  const first = readRunnerEvents(file, 0, 2);
  t.strictSame(first.events, [{ kind: "ready" }, { kind: "job-started", nvflareJob: "j" }]);
  const rest = readRunnerEvents(file, first.offset, 2);
  t.strictSame(rest.events, [{ kind: "ready" }]);
  t.equal(rest.offset, file.sizeBytes);
  t.end();
});

t.test("a round whose number no database takes is no event", (t) => {
  const digest = "0".repeat(64);
  const file = fileOf(
    t,
    '{"kind":"round-started","round":1e20,"numRounds":null}',
    '{"kind":"round-started","round":0,"numRounds":1e20}',
    '{"kind":"round-ended","round":1e20,"sites":[]}',
    `{"kind":"round-model","round":1e20,"file":"/app/out/m","sha256":"${digest}"}`,
    '{"kind":"round-started","round":0,"numRounds":2}',
  );
  const { events, roundModel } = readRunnerEvents(file, 0, 10);
  t.strictSame(events, [{ kind: "round-started", round: 0, numRounds: 2 }]);
  t.equal(roundModel, null);
  t.end();
});

t.test("a model that loads is told, and no other step is a runner's to tell", (t) => {
  const loading = { kind: "progress", step: "loading", done: 0 };
  const file = fileOf(
    t,
    JSON.stringify({ t: "2026-11-27T10:00:00Z", ...loading }),
    JSON.stringify({ ...loading, step: "image" }),
    JSON.stringify({ ...loading, done: -1 }),
    JSON.stringify({ ...loading, more: 1 }),
  );
  t.strictSame(readRunnerEvents(file, 0, 10).events, [loading]);
  t.end();
});
