import t from "tap";
import {
  RESERVE_STEP_BYTES,
  refusesBelow,
  reserveOf,
  warnsBelow,
} from "../../src/disk/log-reserve.ts";

const GIB = 1024 ** 3;
const SEGMENT = 16 * 1024 ** 2;

t.test("a customer's reserve is a twentieth of the disk, within 2 and 32 GiB", async (t) => {
  const free = 1e15;
  t.equal(reserveOf("live", { totalBytes: 10 * GIB, freeBytes: free }), 2 * GIB);
  t.equal(reserveOf("live", { totalBytes: 256 * GIB, freeBytes: free }), 12.75 * GIB);
  t.equal(reserveOf("live", { totalBytes: 4096 * GIB, freeBytes: free }), 32 * GIB);
});

t.test("the reserve takes at most a quarter of what was free, in whole steps", async (t) => {
  t.equal(reserveOf("live", { totalBytes: 256 * GIB, freeBytes: 6 * GIB }), 1.5 * GIB);
  const odd = reserveOf("live", { totalBytes: 256 * GIB, freeBytes: 6 * GIB + 77 });
  t.equal(odd % RESERVE_STEP_BYTES, 0);
  t.ok(odd <= 1.5 * GIB + 20);
  t.equal(reserveOf("live", { totalBytes: 256 * GIB, freeBytes: 0 }), RESERVE_STEP_BYTES);
});

t.test("a trial holds back one step", async (t) => {
  t.equal(reserveOf("dev", { totalBytes: 4096 * GIB, freeBytes: 9 * GIB }), RESERVE_STEP_BYTES);
});

t.test("the warning comes at twice of what refuses new jobs, whatever lies there", async (t) => {
  const whole = { wantedBytes: 13 * GIB, heldBytes: 13 * GIB, segmentBytes: SEGMENT };
  t.equal(refusesBelow(whole), 13 * GIB);
  t.equal(warnsBelow(whole), 26 * GIB);
  t.equal(refusesBelow({ ...whole, heldBytes: 3 * GIB }), 23 * GIB);
  t.equal(refusesBelow({ wantedBytes: 0, heldBytes: 0, segmentBytes: SEGMENT }), 4 * SEGMENT);
});
