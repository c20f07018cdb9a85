/** An outcome names 32 shards at most. A log has one a year and one more for each restore; nothing may be destroyed that no outcome can tell of. */
import { MAX_LEAF_BYTES } from "@resontech/contracts/audit-event";
import type { EraseRequest } from "@resontech/contracts/vault-control";
import t from "tap";
import { PartsFixture } from "./helper/parts-fixture.ts";
import { OFFICER, PEOPLE, STEWARD } from "@resontech/audit/testing/step-up-people";

type Said = {
  type: string;
  phase: string;
  op: string;
  outcome?: { code: string };
  detail?: { request?: string; erased?: { origin: string; commitments_count: number }[] };
};

/** As long as one can be. */
const originOf = (shard: number) =>
  `${"b".repeat(63)}.audit.${"c".repeat(63)}/2026-${1_000 + shard}`;
const LONG = "r".repeat(64);

/** One commitment in each of these shards. */
async function sealIn(
  vault: PartsFixture,
  subject: string,
  month: string,
  from: number,
  to: number,
): Promise<void> {
  for (let shard = from; shard < to; shard++)
    await vault.seal({ subject, month }, 1, 16, originOf(shard));
}

/** The log has every request at once; {@link said} tells what follows. */
function takesAtOnce({ parts: { outbox, record } }: PartsFixture): void {
  record.durableInTime = async (op, phase) => {
    if (phase === "requested")
      outbox.answered(outbox.lastPseq, {
        origin: originOf(0),
        index: outbox.lastPseq,
        leafHash: "",
      });
    return { origin: originOf(0), index: 0, leafHash: op };
  };
}

const events = ({ parts }: PartsFixture): string[] =>
  parts.outbox.unanswered(0).map(({ event }) => event);
const said = (vault: PartsFixture): Said[] =>
  events(vault).map((event) => JSON.parse(event) as Said);
const outcomesOf = (all: readonly Said[]) => all.filter(({ outcome }) => outcome !== undefined);
const shardsIn = ({ detail }: Said) => detail?.erased?.length;

/** Each time approved anew. */
const erasure = (): EraseRequest => ({
  ...({
    verb: "erase",
    subject: LONG,
    request: LONG,
    legalBasis: LONG,
  } as const),
  approval: PEOPLE.proof(
    { kind: "erasure", subject: LONG, request: LONG, legalBasis: LONG },
    {
      requester: { ...STEWARD, by: "a".repeat(64) },
      ...{ approver: { ...OFFICER, by: "p".repeat(64) }, approval: "q".repeat(64) },
    },
  ),
});

t.test(
  "an erasure of 32 shards, every name as long as it may be, is told in one leaf",
  async (t) => {
    using vault = await PartsFixture.open(t);
    takesAtOnce(vault);
    await sealIn(vault, LONG, "2026-01", 0, 32);
    t.match(await vault.erasures.erase(erasure()), { confirmed: true, erased: { length: 32 } });
    const [outcome] = events(vault).filter(
      (event) => (JSON.parse(event) as Said).phase === "completed",
    );
    const bytes = Buffer.byteLength(outcome!);
    t.ok(bytes > 9_000 && bytes < MAX_LEAF_BYTES, `${bytes} bytes`);
  },
);

t.test(
  "an erasure of more shards is done in several operations, each with an outcome that names its own",
  async (t) => {
    using vault = await PartsFixture.open(t);
    takesAtOnce(vault);
    await sealIn(vault, LONG, "2026-03", 40, 60);
    await sealIn(vault, LONG, "2026-01", 0, 20);
    await sealIn(vault, LONG, "2026-02", 10, 30);
    const reply = await vault.erasures.erase(erasure());
    t.match(vault.parts.store.counts, { sealed: 0, erased: 60 });
    t.equal(vault.parts.keys.count, 0);
    t.match(reply, { confirmed: true, erased: { length: 50 } });
    t.equal(
      reply.erased.reduce((sum, { count }) => sum + count, 0),
      60,
    );
    const all = said(vault);
    t.same(outcomesOf(all).map(shardsIn), [30, 20]);
    t.equal(new Set(all.map(({ op }) => op)).size, 2);
    t.same(
      all.map(({ phase }) => phase),
      ["completed", "fact", "requested", "completed", "fact"],
    );
    t.ok(
      all.every(({ detail }) => detail?.request === LONG),
      "of one request",
    );
  },
);

t.test(
  "of an erasure that was killed in between what is done has its outcome, and asked for again it takes the rest",
  async (t) => {
    const first = await PartsFixture.open(t);
    await sealIn(first, LONG, "2026-01", 0, 20);
    await sealIn(first, LONG, "2026-02", 20, 40);
    const op = first.erasureAsked(LONG);
    t.match(await first.erasures.goOn(op), { state: "done", result: { erased: { length: 20 } } });
    using second = await first.reopened();
    takesAtOnce(second);
    t.match(await second.erasures.erase(erasure()), { confirmed: true, erased: { length: 20 } });
    t.match(second.parts.store.counts, { sealed: 0, erased: 40 });
  },
);

t.test(
  "a month that lies in more shards than an outcome can name is refused, and nothing of it is touched",
  async (t) => {
    using vault = await PartsFixture.open(t);
    takesAtOnce(vault);
    await sealIn(vault, LONG, "2026-01", 0, 33);
    await t.rejects(vault.erasures.erase(erasure()), { code: "too_many_shards" });
    t.match(vault.parts.store.counts, { sealed: 33, erased: 0 });
    t.equal(vault.parts.keys.count, 1);
    t.match(said(vault), [{ phase: "denied", outcome: { code: "too_many_shards" } }]);
    t.match(vault.parts.acts.underWay(), []);
  },
);

t.test(
  "retention ends what is over, 32 shards at a time; a month of more stays, and nothing is asked for it each day",
  async (t) => {
    using vault = await PartsFixture.open(t);
    takesAtOnce(vault);
    await sealIn(vault, "usr-1", "2020-01", 0, 20);
    await sealIn(vault, "usr-2", "2020-01", 15, 35);
    await sealIn(vault, "usr-3", "2020-02", 0, 33);
    await sealIn(vault, "usr-4", "2020-03", 50, 55);
    await vault.retention.enforce(Date.UTC(2026, 0, 15));
    t.match(vault.parts.store.counts, { sealed: 33, erased: 45 });
    t.same(outcomesOf(said(vault)).map(shardsIn), [25, 20]);
    const before = vault.parts.outbox.lastPseq;
    await vault.retention.enforce(Date.UTC(2026, 0, 16));
    t.equal(vault.parts.outbox.lastPseq, before);
    t.equal(vault.retention.isOverdue(Date.UTC(2026, 0, 16)), true);
  },
);
