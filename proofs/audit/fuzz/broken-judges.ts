/** Judges that are broken on purpose, each in one way: what the fuzzer must notice of any. */
import { judged, type Judge } from "./judged.ts";

const MIB = 1_048_576;
const PAUSE_MS = 20;
/** Not at once: what was judged before must not hide it. */
const FINE = 50;
let count = 0;

const brokenAfter =
  (broken: Judge): Judge =>
  (input) =>
    ++count > FINE ? broken(input) : judged(input);

export const BROKEN_JUDGES = {
  throws: brokenAfter(() => Promise.reject(new TypeError("nothing can be read of undefined"))),
  loops: brokenAfter(() => {
    for (;;) Math.hypot(3, 4);
  }),
  allocates: brokenAfter(() => {
    const held: Buffer[] = [];
    // Slowly enough for a watcher that waits for its turn on a busy machine.
    for (
      const sleeper = new Int32Array(new SharedArrayBuffer(4));
      ;
      Atomics.wait(sleeper, 0, 0, PAUSE_MS)
    )
      held.push(Buffer.alloc(8 * MIB, 1));
  }),
  passes: brokenAfter(async (input) => ({ ...(await judged(input)), code: 0 })),
} as const satisfies Record<string, Judge>;
