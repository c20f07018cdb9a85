/** Ends of calls that are not in the journal yet. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { CallEnded } from "../../src/records/call-line.ts";
import { EndNotes } from "../../src/records/end-notes.ts";

const ended = (id: string): CallEnded => ({
  ...{ kind: "end", id, at: "2026-01-01T00:00:01.000Z", outcome: "answered", status: 200 },
  ...{ answerSha256: "0".repeat(64), answerBytes: 3 },
  usage: { promptTokens: 1, completionTokens: 2, isExact: true },
});

t.test("what was noted is there for the next life, until the journal has it", async (t) => {
  const dir = t.testdir();
  const first = EndNotes.open(dir);
  t.equal(first.left.size, 0);
  for (const id of ["a", "b"]) first.notes.note(JSON.stringify(ended(id)));
  // Killed: nothing is closed. A cut line counts as none.
  appendFileSync(join(dir, "ends.ndjson"), '{"kind":"end","id":"c');
  const second = EndNotes.open(dir);
  t.same([...second.left.values()], [ended("a"), ended("b")]);
  second.notes.note(JSON.stringify(ended("e")));
  t.same([...EndNotes.open(dir).left.keys()], ["a", "b", "e"]);
  second.notes.settle();
  t.same([...EndNotes.open(dir).left.keys()], ["a", "b", "e"], "a few may lie longer");
  for (const { notes } of [first, second]) notes[Symbol.dispose]();
});

t.test("once they are many, those that the journal has go", async (t) => {
  const dir = t.testdir();
  const { notes } = EndNotes.open(dir, 500);
  for (const id of ["a", "b", "c"]) notes.note(JSON.stringify(ended(id)));
  notes.settle();
  notes.note(JSON.stringify(ended("d")));
  notes.settle();
  t.same([...EndNotes.open(dir).left.keys()], ["d"]);
  notes[Symbol.dispose]();
});
