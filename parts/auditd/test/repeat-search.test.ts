import t from "tap";
import { RepeatSearch, type SearchedShard } from "../src/commit/repeat-search.ts";
import { Ledger } from "../src/decisions/ledger.ts";
import { composeEvent } from "@resontech/audit/format/event/compose-event";
import { leafOf, parseLeaf } from "@resontech/audit/format/event/leaf";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { keyList } from "@resontech/audit/testing/event-drafts";

const BOOT = "b-1";
const PRODUCERS = ["gate", "record", "agent"];
const EACH = 6_000;

/** Entries of three producers in turn, and how it is read. */
class CountedShard implements SearchedShard {
  readonly ledger = new Ledger(new Map());
  readonly #leaves: Buffer[] = [];
  #reading = 0;
  reads = 0;
  mostAtOnce = 0;

  constructor() {
    for (const prod of PRODUCERS) this.#append("auditd", "audit.producer.start", prod);
    for (let n = 0; n < EACH; n++)
      for (const prod of PRODUCERS) this.#append(prod, "key.list", "usr-1", n + 1);
  }

  get nextIndex(): number {
    return this.#leaves.length;
  }

  async readLeaf(index: number) {
    this.reads += 1;
    this.#reading += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#reading);
    await new Promise((resolve) => setImmediate(resolve));
    this.#reading -= 1;
    const leaf = this.#leaves[index]!;
    return { leaf, leafHash: hashLeaf(leaf) };
  }

  #append(
    prod: string,
    type: "audit.producer.start" | "key.list",
    id: string,
    pseq = this.#leaves.length + 1,
  ): void {
    const detail = { boot: BOOT, first_pseq: 1, prev_boot: null, prev_pseq: 0 };
    const draft =
      type === "key.list"
        ? keyList()
        : { type, op: crypto.randomUUID(), object: { kind: "producer", id }, detail };
    const composed = composeEvent(
      { actor: { sub: "auditd", kind: "system" }, ...draft, phase: "fact" } as never,
      {
        boot: BOOT,
        pseq,
      },
    );
    const leaf = leafOf(Buffer.from(composed.event, "utf8"), prod, "2026-03-01T00:00:00.000Z");
    this.ledger.apply(parseLeaf(leaf), this.#leaves.length, hashLeaf(leaf).toString("hex"));
    this.#leaves.push(leaf);
  }
}

const isHeard = () => false;

t.test("a run of old events that a producer sends again is one reading of the log", async (t) => {
  const shard = new CountedShard();
  const search = new RepeatSearch([shard]);
  const runs = PRODUCERS.map((prod) =>
    Promise.all(
      Array.from({ length: 500 }, (_, n) =>
        search.find({ prod, boot: BOOT, pseq: n + 1 }, isHeard),
      ),
    ),
  );
  for (const [at, found] of (await Promise.all(runs)).entries())
    t.same(
      found.map((one) => [one?.event.prod, one?.event.pseq]),
      Array.from({ length: 500 }, (_, n) => [PRODUCERS[at], n + 1]),
    );
  t.equal(shard.mostAtOnce, PRODUCERS.length, "each producer's are looked for one at a time");
  t.ok(shard.reads <= 3 * 500 * 3, `${shard.reads} reads of three runs of 1,500 entries`);
});

t.test("in whatever order they come, and whatever is passed over", async (t) => {
  const search = new RepeatSearch([new CountedShard()]);
  const find = async (pseq: number, boot = BOOT) =>
    (await search.find({ prod: "gate", boot, pseq }, isHeard))?.event.pseq;
  for (const pseq of [40, 3, 400, 399, 400, 1, EACH]) t.equal(await find(pseq), pseq);
  t.equal(await find(7, "another life"), undefined);
  t.equal(await search.find({ prod: "nobody", boot: BOOT, pseq: 1 }, isHeard), null);
});

t.test("nothing is read for whom nobody hears any more", async (t) => {
  const shard = new CountedShard();
  const search = new RepeatSearch([shard]);
  let isOver = false;
  const asked = Array.from({ length: 500 }, (_, n) =>
    search.find({ prod: "gate", boot: BOOT, pseq: n + 1 }, () => isOver),
  );
  await asked[0];
  isOver = true;
  t.equal(await asked.at(-1), undefined);
  t.ok(shard.reads < 50, `${shard.reads} reads`);
});
