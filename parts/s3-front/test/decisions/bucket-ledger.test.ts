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

t.test(
  "what fits is granted to the last byte, what does not is refused, and what failed is given back",
  async (t) => {
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
  },
);

t.test(
  "a part replaces the one of its number, an abort gives all back, a completed upload changes nothing",
  async (t) => {
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
    ledger.completed(ledger.completionBegins("u"), 2);
    t.same(ledger.ask(61, null), { kind: "refused", quotaBytes: 100, heldBytes: 40 });
  },
);

t.test(
  "whoever can't be told exactly leaves the ledger in doubt, and nothing is refused before a listing",
  async (t) => {
    const doubts: [string, (ledger: BucketLedger) => void][] = [
      ["a version is deleted", (ledger) => ledger.shrank()],
      [
        "an upload that was not seen opened is aborted",
        (ledger) => ledger.uploadAborted("x", ledger.epoch),
      ],
      ["or completed", (ledger) => ledger.completed(ledger.completionBegins("x"), 1)],
      [
        "or gets a part",
        (ledger) => ledger.stored(granted(ledger, 1, { uploadId: "x", partNumber: 1 })),
      ],
      ["the engine went away", (ledger) => ledger.unknown(granted(ledger, 1))],
      [
        "a part is missing in a completed upload",
        (ledger) => {
          ledger.uploadOpened("u");
          ledger.stored(granted(ledger, 1, { uploadId: "u", partNumber: 1 }));
          ledger.completed(ledger.completionBegins("u"), 0);
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
  },
);

t.test(
  "an upload that is being completed counts although a listing does not show it, and is listed anew after its end",
  async (t) => {
    const ledger = counted(100);
    ledger.uploadOpened("u");
    ledger.stored(granted(ledger, 60, { uploadId: "u", partNumber: 1 }));
    const completion = ledger.completionBegins("u");
    ledger.listingBegins();
    ledger.listed(100, 0);
    t.equal(ledger.heldBytes, 60);
    t.equal(ledger.ask(50, null).kind, "wait", "the listing may have seen it all the same");
    t.equal(ledger.ask(40, null).kind, "granted");
    ledger.completed(completion, 1);
    t.equal(ledger.ask(1, null).kind, "count");
  },
);

t.test(
  "while an upload of unknown size is being completed beside a listing nothing that adds a byte is granted or refused",
  async (t) => {
    for (const [what, begin] of [
      ["not seen opened", (ledger: BucketLedger) => ledger.completionBegins("x")],
      [
        "with a part on its way",
        (ledger: BucketLedger) => {
          ledger.uploadOpened("u");
          granted(ledger, 10, { uploadId: "u", partNumber: 1 });
          return ledger.completionBegins("u");
        },
      ],
      [
        "with a part that came late",
        (ledger: BucketLedger) => {
          ledger.uploadOpened("u");
          const completion = ledger.completionBegins("u");
          granted(ledger, 10, { uploadId: "u", partNumber: 1 });
          return completion;
        },
      ],
    ] as const) {
      const ledger = counted(100);
      const completion = begin(ledger);
      t.equal(
        ledger.ask(1, null).kind,
        "granted",
        `${what}: without a listing its parts are counted`,
      );
      ledger.listingBegins();
      ledger.listed(100, 0);
      t.equal(ledger.ask(1, null).kind, "blind", what);
      t.equal(ledger.ask(1000, null).kind, "blind", what);
      t.equal(ledger.ask(0, null).kind, "granted");
      ledger.notCompleted(completion);
      t.equal(ledger.ask(1, null).kind, "count");
    }
  },
);

/**
 * A bucket as the engine has it, beside a ledger that is told of everything late: answers arrive in any order, listings see each change or not.
 */
t.test(
  "in any order of writes, parts, failures and listings the bucket never holds more than its quota",
  async () => {
    const QUOTA = 100;
    // Writes are the common thing: a bucket that is never full proves nothing.
    const STEPS = [
      ...([
        "put",
        "put",
        "put",
        "part",
        "part",
        "part",
        "apply",
        "apply",
        "answer",
        "answer",
        "answer",
      ] as const),
      ...([
        "fail",
        "lose",
        "listBegin",
        "listEnd",
        "listEnd",
        "abort",
        "complete",
        "goOn",
        "goOn",
        "deleteOne",
      ] as const),
    ];
    type Flight = { reservation: number; bytes: number; part: Part | null; isApplied: boolean };
    /** As the engine makes one: asked for; hidden, with the parts that were there; linked as an object; answered. */
    type Completion = {
      id: number;
      uploadId: string;
      parts: Map<number, number> | null;
      isLinked: boolean;
    };
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
        let completions: Completion[] = [];
        let isListing = false;
        let seen = { objects: 0, uploads: 0 };
        let nextUpload = 1;
        const total = (numbers: Iterable<number>) =>
          [...numbers].reduce((sum, bytes) => sum + bytes, 0);
        const inParts = (all: Iterable<Map<number, number>>) =>
          total([...all].map((parts) => total(parts.values())));
        const visible = () => ({ objects: total(objects), uploads: inParts(uploads.values()) });
        const hidden = () =>
          inParts(
            completions.map(({ parts, isLinked }) => (isLinked ? new Map() : (parts ?? new Map()))),
          );
        const held = () => visible().objects + visible().uploads + hidden();
        const apply = (flight: Flight) => {
          if (flight.isApplied) return;
          flight.isApplied = true;
          if (flight.part === null) objects.push(flight.bytes);
          else uploads.get(flight.part.uploadId)?.set(flight.part.partNumber, flight.bytes);
        };
        const take = (pick: number): Flight | undefined =>
          flights.splice(pick % Math.max(1, flights.length), 1)[0];
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
              const part =
                what === "put"
                  ? null
                  : { uploadId: names[pick % names.length] ?? "", partNumber: 1 + (pick % 2) };
              const verdict = ledger.ask(bytes, part);
              if (verdict.kind === "granted")
                flights.push({ reservation: verdict.reservation, bytes, part, isApplied: false });
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
              // A listing sees the uploads of its begin or of its end, and then the objects of its begin or of its end.
              seen = visible();
              break;
            case "listEnd":
              if (!isListing) break;
              isListing = false;
              ledger.listed(
                QUOTA,
                (pick % 3 === 0 ? visible() : seen).uploads +
                  (pick % 3 === 1 ? seen : visible()).objects,
              );
              break;
            case "abort": {
              const [uploadId] = [...uploads.keys()].slice(pick % Math.max(1, uploads.size));
              if (uploadId === undefined || flights.some(({ part }) => part?.uploadId === uploadId))
                break;
              uploads.delete(uploadId);
              ledger.uploadAborted(uploadId, ledger.epoch);
              break;
            }
            case "complete": {
              const [uploadId] = [...uploads.keys()].slice(pick % Math.max(1, uploads.size));
              if (uploadId === undefined || flights.some(({ part }) => part?.uploadId === uploadId))
                break;
              completions.push({
                id: ledger.completionBegins(uploadId),
                uploadId,
                parts: null,
                isLinked: false,
              });
              break;
            }
            case "goOn": {
              const completion = completions[pick % Math.max(1, completions.length)];
              if (completion === undefined) break;
              const { id, uploadId, parts, isLinked } = completion;
              const isRefused = parts !== null && !isLinked && bytes % 5 === 0;
              if (isRefused) uploads.set(uploadId, parts);
              if (parts === null && uploads.has(uploadId)) {
                completion.parts = uploads.get(uploadId) ?? null;
                uploads.delete(uploadId);
              } else if (parts !== null && !isRefused && !isLinked) {
                completion.isLinked = true;
                objects.push(total(parts.values()));
              } else {
                completions = completions.filter((other) => other !== completion);
                if (parts !== null && isLinked) ledger.completed(id, parts.size);
                else ledger.notCompleted(id);
              }
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
  },
);
