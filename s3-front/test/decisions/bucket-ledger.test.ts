import fc from "fast-check";
import t from "tap";
import { BucketLedger, type Part } from "../../src/decisions/bucket-ledger.ts";

function counted(quotaBytes: number, usedBytes = 0): BucketLedger {
  const ledger = new BucketLedger();
  ledger.listingBegins();
  ledger.listed(quotaBytes, usedBytes);
  return ledger;
}
const granted = (ledger: BucketLedger, bytes: number, part: Part | null = null): number => {
  const verdict = ledger.ask(bytes, part);
  if (verdict.kind !== "granted") throw new Error(verdict.kind);
  return verdict.reservation;
};

t.test("what fits is granted to the last byte, what does not is refused, and what failed is given back", async (t) => {
  t.same(new BucketLedger().ask(1, null), { kind: "count" });
  const ledger = counted(100, 40);
  const first = granted(ledger, 60);
  t.same(ledger.ask(1, null), { kind: "refused", quotaBytes: 100, heldBytes: 100 });
  t.equal(ledger.ask(0, null).kind, "granted");
  ledger.gaveBack(first);
  const second = granted(ledger, 30);
  ledger.stored(second);
  t.equal(ledger.heldBytes, 70);
  t.equal(ledger.ask(31, null).kind, "refused");
});

t.test("a part replaces the one of its number, an abort gives all back, a completed upload changes nothing", async (t) => {
  const ledger = counted(100);
  ledger.uploadOpened("u");
  ledger.stored(granted(ledger, 50, { uploadId: "u", partNumber: 1 }));
  ledger.stored(granted(ledger, 30, { uploadId: "u", partNumber: 2 }));
  ledger.stored(granted(ledger, 60, { uploadId: "u", partNumber: 1 }));
  t.equal(ledger.heldBytes, 90);
  ledger.stored(granted(ledger, 10, { uploadId: "u", partNumber: 1 }));
  t.equal(ledger.heldBytes, 40);
  ledger.uploadOpened("v");
  ledger.stored(granted(ledger, 60, { uploadId: "v", partNumber: 1 }));
  ledger.uploadAborted("v", ledger.epoch);
  t.equal(ledger.heldBytes, 40);
  ledger.uploadCompleted("u", 2, ledger.epoch);
  t.same(ledger.ask(61, null), { kind: "refused", quotaBytes: 100, heldBytes: 40 });
});

t.test("whoever can't be told exactly leaves the ledger in doubt, and nothing is refused before a listing", async (t) => {
  const doubts: [string, (ledger: BucketLedger) => void][] = [
    ["a version is deleted", (ledger) => ledger.shrank()],
    ["an upload that was not seen opened is aborted", (ledger) => ledger.uploadAborted("x", ledger.epoch)],
    ["or completed", (ledger) => ledger.uploadCompleted("x", 1, ledger.epoch)],
    ["or gets a part", (ledger) => ledger.stored(granted(ledger, 1, { uploadId: "x", partNumber: 1 }))],
    ["the engine went away", (ledger) => ledger.unknown(granted(ledger, 1))],
    [
      "a part is missing in a completed upload",
      (ledger) => {
        ledger.uploadOpened("u");
        ledger.stored(granted(ledger, 1, { uploadId: "u", partNumber: 1 }));
        ledger.uploadCompleted("u", 0, ledger.epoch);
      },
    ],
  ];
  for (const [what, happens] of doubts) {
    const ledger = counted(100, 50);
    happens(ledger);
    t.equal(ledger.ask(10, null).kind, "granted", `${what}: what fits in any case passes`);
    t.equal(ledger.ask(90, null).kind, "count", what);
  }
  const ledger = counted(100, 50);
  ledger.grew();
  t.equal(ledger.ask(1, null).kind, "count");
});

/**
 * A bucket as the engine has it, beside a ledger that is told of everything late: answers arrive in any order, listings see each change or not.
 */
t.test("in any order of writes, parts, failures and listings the bucket never holds more than its quota", async () => {
  const QUOTA = 100;
  // Writes are the common thing: a bucket that is never full proves nothing.
  const STEPS = [
    ...(["put", "put", "put", "part", "part", "part", "apply", "apply", "answer", "answer", "answer"] as const),
    ...(["fail", "lose", "listBegin", "listEnd", "listEnd", "abort", "complete", "deleteOne"] as const),
  ];
  type Flight = { reservation: number; bytes: number; part: Part | null; isApplied: boolean };
  const step = fc.record({
    what: fc.constantFrom(...STEPS),
    bytes: fc.integer({ min: 0, max: 60 }),
    pick: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: "max" }), (steps) => {
      const ledger = counted(QUOTA);
      let objects: number[] = [];
      const uploads = new Map<string, Map<number, number>>();
      let flights: Flight[] = [];
      let isListing = false;
      let seen = 0;
      let nextUpload = 1;
      const held = () =>
        objects.reduce((sum, bytes) => sum + bytes, 0) +
        [...uploads.values()].reduce((sum, parts) => sum + [...parts.values()].reduce((a, b) => a + b, 0), 0);
      const apply = (flight: Flight) => {
        if (flight.isApplied) return;
        flight.isApplied = true;
        if (flight.part === null) objects.push(flight.bytes);
        else uploads.get(flight.part.uploadId)?.set(flight.part.partNumber, flight.bytes);
      };
      const take = (pick: number): Flight | undefined => flights.splice(pick % Math.max(1, flights.length), 1)[0];
      for (const { what, bytes, pick } of steps) {
        switch (what) {
          case "put":
          case "part": {
            if (isListing) break;
            if (what === "part" && uploads.size < 2) {
              uploads.set(`u${nextUpload}`, new Map());
              if (pick % 3 !== 0) ledger.uploadOpened(`u${nextUpload}`);
              nextUpload += 1;
            }
            const names = [...uploads.keys()];
            const part = what === "put" ? null : { uploadId: names[pick % names.length] ?? "", partNumber: 1 + (pick % 2) };
            const verdict = ledger.ask(bytes, part);
            if (verdict.kind === "granted") flights.push({ reservation: verdict.reservation, bytes, part, isApplied: false });
            break;
          }
          case "apply": {
            const flight = flights[pick % Math.max(1, flights.length)];
            if (flight !== undefined) apply(flight);
            break;
          }
          case "answer": {
            const flight = take(pick);
            if (flight === undefined) break;
            apply(flight);
            ledger.stored(flight.reservation);
            break;
          }
          case "fail": {
            const flight = flights.find(({ isApplied }) => !isApplied);
            if (flight === undefined) break;
            flights = flights.filter((other) => other !== flight);
            ledger.gaveBack(flight.reservation);
            break;
          }
          case "lose": {
            const flight = take(pick);
            if (flight === undefined) break;
            if (pick % 2 === 0) apply(flight);
            ledger.unknown(flight.reservation);
            break;
          }
          case "listBegin":
            if (isListing) break;
            isListing = true;
            ledger.listingBegins();
            // A listing sees what was there at its begin or what is there at its end, whichever is less, at the worst.
            seen = held();
            break;
          case "listEnd":
            if (!isListing) break;
            isListing = false;
            ledger.listed(QUOTA, pick % 2 === 0 ? seen : held());
            break;
          case "abort":
          case "complete": {
            const [uploadId] = [...uploads.keys()].slice(pick % Math.max(1, uploads.size));
            if (uploadId === undefined || flights.some(({ part }) => part?.uploadId === uploadId)) break;
            const parts = uploads.get(uploadId) ?? new Map<number, number>();
            uploads.delete(uploadId);
            if (what === "complete") {
              objects.push([...parts.values()].reduce((a, b) => a + b, 0));
              ledger.uploadCompleted(uploadId, parts.size, ledger.epoch);
            } else ledger.uploadAborted(uploadId, ledger.epoch);
            break;
          }
          case "deleteOne":
            objects = objects.slice(1);
            ledger.shrank();
            break;
        }
        if (held() > QUOTA) throw new Error(`holds ${held()} after ${what}`);
      }
    }),
    { numRuns: 5_000 },
  );
});
