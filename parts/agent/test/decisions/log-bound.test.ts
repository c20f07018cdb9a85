import t from "tap";
import {
  gapLine,
  LOG_HEAD_BYTES,
  LOG_TAIL_BYTES,
  nextLogStep,
} from "../../src/decisions/log-bound.ts";

const MIB = 1024 ** 2;

/** All that is stored of a member that prints so much and is looked at so often. */
function stored(printed: number, looks: number) {
  let [offset, chunks, bytes] = [0, 0, 0];
  const gaps: number[] = [];
  const take = (upTo: number, isOver: boolean) => {
    for (let step; (step = nextLogStep(offset, upTo, isOver)) !== null; offset += step.bytes) {
      if (step.kind === "gap") gaps.push(step.bytes);
      else {
        chunks++;
        bytes += step.bytes;
        if (step.bytes > MIB) throw new Error("a chunk is larger than 1 MiB");
      }
    }
  };
  for (let look = 1; look <= looks; look++) take(Math.floor((printed * look) / looks), false);
  take(printed, true);
  return { offset, chunks, bytes, gaps };
}

t.test("what fits is stored whole, byte by byte", async (t) => {
  for (const printed of [0, 1, MIB, LOG_HEAD_BYTES, LOG_HEAD_BYTES + LOG_TAIL_BYTES])
    t.match(stored(printed, 7), { offset: printed, bytes: printed, gaps: [] }, String(printed));
});

t.test("of more the first and the last part are stored, and the middle is counted", async (t) => {
  const printed = 425 * MIB + 11;
  for (const looks of [1, 7, 900]) {
    const all = stored(printed, looks);
    t.equal(all.offset, printed);
    t.equal(all.bytes, LOG_HEAD_BYTES + LOG_TAIL_BYTES);
    t.same(all.gaps, [printed - LOG_HEAD_BYTES - LOG_TAIL_BYTES]);
  }
  t.match(gapLine(378_535_947), /^\n\[378535947 bytes \(361 MiB\) of this log were left out/);
});

t.test("while it prints on, what comes after the beginning waits", async (t) => {
  t.equal(nextLogStep(LOG_HEAD_BYTES, LOG_HEAD_BYTES + 5 * MIB, false), null);
  t.same(nextLogStep(LOG_HEAD_BYTES, LOG_HEAD_BYTES + 3, true), { kind: "chunk", bytes: 3 });
});
