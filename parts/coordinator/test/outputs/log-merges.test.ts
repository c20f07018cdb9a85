/** Wherever a merge of a log is cut, and whatever is removed meanwhile: readers get what was printed, in order, each byte once. */
import fc from "fast-check";
import t from "tap";
import { chunksOf, MAX_MERGED_BYTES } from "../../src/outputs/decisions/log-chunks.ts";
import { LogMerges, type LogMergeParts } from "../../src/outputs/log-merges.ts";
import type { ObjectVersion } from "../../src/storage/object-store.ts";

t.setTimeout(600_000);
const MEMBER = "j-1-a1-site-1";
const due = { memberId: MEMBER, jobId: "j-1", bucket: "b", attempts: 0 };
type Stored = ObjectVersion & { bytes: Buffer };

class Cut extends Error {}

/** The store as one bucket in memory, and a process that is cut after so many steps in it. */
class World {
  readonly objects = new Map<string, Stored>();
  readonly recorded: string[] = [];
  isDue = true;
  stepsLeft = Infinity;
  /** Looks at the objects after each change. */
  onChange: () => void = () => undefined;
  #versions = 0;

  /** @param sizeBytes that it is said to have: large ones need not be there */
  put(key: string, bytes: Buffer, sizeBytes = bytes.length): ObjectVersion {
    this.#versions += 1;
    const version = { key, versionId: `v${this.#versions}`, sizeBytes, etag: "e" };
    this.objects.set(key, { ...version, bytes });
    return version;
  }

  /** What a reader makes of it. */
  read(): string {
    const chunks = chunksOf([...this.objects.values()]);
    return chunks.map(({ version }) => this.objects.get(version.key)!.bytes.toString()).join("");
  }

  async merge(): Promise<void> {
    const step = (): void => {
      if (this.stepsLeft-- <= 0) throw new Cut();
    };
    const changed = <T>(value: T): T => {
      this.onChange();
      return value;
    };
    const merges = new LogMerges({
      commit: { run: async (work: (db: never) => unknown) => (step(), work(undefined as never)) },
      tables: {
        clock: { now: () => 0 },
        logMerges: {
          due: () => (this.isDue ? [due] : []),
          done: () => void (this.isDue = false),
          defer: () => undefined,
        },
        members: { get: () => ({ node_id: "n-1" }) },
        records: { output: ({ key }: { key: string }) => void this.recorded.push(key) },
      },
      store: {
        list: async () => (step(), [...this.objects.values()]),
        getRange: async ({ key }: { key: string }) => (step(), this.objects.get(key)!.bytes),
        put: async (_: string, key: string, bytes: Buffer) => (
          step(), changed(this.put(key, bytes))
        ),
        remove: async (_: string, key: string) => (step(), void changed(this.objects.delete(key))),
      },
      volume: { durable: async () => step() },
      onError: (error: unknown) => {
        if (!(error instanceof Cut)) throw error;
      },
    } as unknown as LogMergeParts);
    await merges.makeDue();
  }
}

const part = (folder: string, at: number): string =>
  `logs/j-1/${MEMBER}-${folder}/${String(at).padStart(8, "0")}`;

t.test(
  "a merge that is cut anywhere, any number of times, loses and doubles nothing",
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ renews: fc.boolean(), skips: fc.boolean(), big: fc.boolean() }), {
          ...{ minLength: 2, maxLength: 9 },
        }),
        fc.array(fc.nat(30), { maxLength: 6 }),
        async (printed, cuts) => {
          const world = new World();
          let [fence, at, whole] = [1, 0, ""];
          for (const { renews, skips, big } of printed) {
            if (renews) fence += 1;
            if (skips) at += 1;
            const text = `${at}${big ? " ".repeat(MAX_MERGED_BYTES / 3) : ""}\n`;
            whole += text;
            world.put(part(`1.${fence}`, at), Buffer.from(text));
            at += 1;
          }
          const isWhole = (): void => {
            if (world.read() !== whole) throw new Error("a reader got something else");
          };
          world.onChange = isWhole;
          for (const steps of cuts) {
            world.stepsLeft = steps;
            await world.merge();
            isWhole();
          }
          world.stepsLeft = Infinity;
          await world.merge();
          isWhole();
          const left = world.objects.size;
          world.isDue = true;
          await world.merge();
          const merged = [...world.objects.keys()].filter((key) => key.includes("/to-"));
          return world.objects.size === left && merged.every((key) => world.recorded.includes(key));
        },
      ),
      { numRuns: 40 },
    );
    t.pass("40 logs, each cut up to six times");
  },
);

t.test("a part that is removed while it is merged does not come back", async (t) => {
  const world = new World();
  for (const at of [0, 1, 2]) world.put(part("1.1", at), Buffer.from(`${at}\n`));
  let isRemoved = false;
  world.onChange = () => {
    if (!isRemoved) world.objects.delete(part("1.1", 1));
    isRemoved = true;
  };
  await t.rejects(world.merge(), /removed while they were merged/);
  t.equal(world.read(), "0\n2\n");
  world.onChange = () => undefined;
  await world.merge();
  t.equal(world.read(), "0\n2\n");
  t.same(world.recorded, []);
});
