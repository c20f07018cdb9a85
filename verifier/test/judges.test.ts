import { createHash, generateKeyPairSync } from "node:crypto";
import t from "tap";
import { commitment } from "@resontech/audit/format/event/commitment";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import { KEY_TYPE, noteSigner } from "@resontech/audit/format/note/note-key";
import { tlogProof } from "@resontech/audit/format/tree/tlog-proof";
import { erasureElsewhere } from "../src/disclosures/erasures.ts";
import { verifyProof } from "../src/event-proof.ts";
import { KnownHeads, parseKnown } from "../src/tree/known.ts";
import { parseCheckpoint } from "../src/input/note.ts";
import type { Platform } from "../src/platform/platform.ts";
import { nodePlatform } from "../src/platform/platform-node.ts";
import { parsePolicy } from "../src/signatures/policy.ts";
import { draw, isKept, parseFilter } from "../src/sample/sample.ts";
import { Population } from "../src/sample/population.ts";
import { Timeline } from "../src/completeness/timeline.ts";
import { VerifierTree } from "../src/tree/tree.ts";
import { Witnessed } from "../src/signatures/witnessed.ts";
import { MadeLog, ORIGIN } from "./helper/made-log.ts";

const MINUTE = 60_000;

t.test("APPEND-ONLY: what the auditor kept must be a beginning of the log", async (t) => {
  const log = MadeLog.begun();
  log.run(3);
  const early = log.checkpoint();
  log.run(3);
  const later = log.checkpoint();
  log.run(1);
  const verdict = async (known: string) =>
    (await log.judge({ known: parseKnown(Buffer.from(known)) })).verdicts["APPEND-ONLY"];
  t.match((await log.judge()).verdicts["APPEND-ONLY"], { verdict: "NOT CHECKED" });
  t.match(await verdict(early), { verdict: "PASS", reason: /^1 known checkpoints.* 6 entries/ });
  t.match(
    await verdict(`${early}${later}`),
    { verdict: "PASS", reason: /^2 known/ },
    "notes one after the other",
  );
  t.match(await verdict(early.split("\n\n")[0]!), { verdict: "PASS" }, "the printed text alone");
  t.match(
    await verdict(JSON.stringify(await log.judge())),
    { verdict: "PASS" },
    "an earlier report",
  );
  t.match(await verdict(log.checkpoint(6, { root: Buffer.alloc(32, 7) })), {
    verdict: "FAIL",
    index: 0,
  });
  const forked = `${early}${log.checkpoint(9, { root: Buffer.alloc(32, 7) })}`;
  t.match(
    await verdict(forked),
    { verdict: "FAIL", index: 6, reason: /lies between entries 6 and 8/ },
    "the smallest range that is known",
  );
  const tomorrow = log.checkpoint(99, { root: Buffer.alloc(32, 7) });
  t.match(
    await verdict(tomorrow),
    { verdict: "FAIL", reason: /older state/ },
    "yesterday's state is served",
  );
  t.match(
    await verdict(early.replaceAll(ORIGIN, "other.audit.acme/2026")),
    { verdict: "NOT CHECKED" },
    "another log's",
  );
  for (const wrong of ["{", "{}", "a\nb\n", `${ORIGIN}\n-1\nAAAA\n`])
    t.throws(() => parseKnown(Buffer.from(wrong)), { name: "Refused" }, wrong);
});

t.test("APPEND-ONLY: a checkpoint that the export itself carries must fit as well", async (t) => {
  const log = MadeLog.begun();
  log.run(5);
  const wrong = log.archive({ kept: [log.checkpoint(4, { root: Buffer.alloc(32, 9) })] });
  t.match(
    (await log.judge({ archive: wrong })).verdicts["APPEND-ONLY"],
    { verdict: "FAIL", index: 0 },
    "the log signed two trees",
  );
  const unsigned = log.checkpoint(4).replace(/\n— [^\n]+\n$/, "\n");
  t.match((await log.judge({ archive: log.archive({ kept: [unsigned] }) })).verdicts.SIGNATURE, {
    verdict: "FAIL",
    reason: /checkpoints\/4/,
  });
  for (const kept of [
    [log.checkpoint(4), log.checkpoint(3)],
    [log.checkpoint(8)],
    [log.checkpoint(4), log.checkpoint(4)],
  ])
    t.match(await log.judge({ archive: log.archive({ kept }) }), { refused: /out of order/ });
});

t.test(
  "WITNESSED: up to which entry, by the policy's quorum, and the longest stretch without",
  async (t) => {
    const log = MadeLog.begun();
    const kept: string[] = [];
    for (let hour = 0; hour < 3; hour++) {
      log.run(60);
      kept.push(log.checkpoint(log.leaves.length, { witnessed: true }));
    }
    log.run(5);
    const newest = log.checkpoint(log.leaves.length, { witnessed: true });
    log.run(4);
    const policy = log.policy("w1");
    const verdict = async (options: { note?: string; kept?: string[] }) =>
      (await log.judge({ archive: log.archive(options), policy })).verdicts.WITNESSED;
    t.match(await verdict({ note: log.checkpoint(log.leaves.length, { witnessed: true }), kept }), {
      verdict: "PASS",
      reason:
        /^w1 countersigned up to entry \d+, at 2026-03-01T11:09:00.000Z; longest stretch 60 min$/,
    });
    t.match(await verdict({ kept: [...kept, newest] }), {
      verdict: "PASS",
      reason: /the last 4 entries are not countersigned yet/,
    });
    t.match(await verdict({ kept: [kept[0]!, kept[2]!] }), {
      verdict: "FAIL",
      index: 63,
      reason: /120 min of running time, entries 63 to 182/,
    });
    log.run(20);
    t.match(
      await verdict({ kept }),
      { verdict: "FAIL", reason: /29 min of running time/ },
      "nobody countersigned lately",
    );
    t.match(await verdict({}), { verdict: "FAIL", reason: /no checkpoint/ });
    t.match((await log.judge()).verdicts.WITNESSED, {
      verdict: "NOT CHECKED",
      reason: /quorum none/,
    });
    const [one = ""] = kept;
    const bytes = Buffer.from(one.trimEnd().split(" ").at(-1)!, "base64");
    bytes[bytes.length - 1]! ^= 1;
    const forged = `${one.slice(0, one.trimEnd().lastIndexOf(" "))} ${bytes.toString("base64")}\n`;
    t.match(await verdict({ kept: [forged] }), { verdict: "FAIL", reason: /does not verify/ });
  },
);

t.test("WITNESSED: time in which the log did not run is no stretch without witness", async (t) => {
  const log = MadeLog.begun();
  log.run(10);
  const kept = [log.checkpoint(log.leaves.length, { witnessed: true })];
  log.nowMs += 30 * 60 * MINUTE;
  log.start("auditd");
  log.run(3);
  const note = log.checkpoint(log.leaves.length, { witnessed: true });
  const { verdicts } = await log.judge({
    archive: log.archive({ note, kept }),
    policy: log.policy("w1"),
  });
  t.match(verdicts.WITNESSED, { verdict: "PASS", reason: /longest stretch 10 min/ });
});

t.test(
  "DISCLOSURES: values open their commitments, erased ones were erased on record",
  async (t) => {
    const log = MadeLog.begun();
    const lines = ["10.0.0.7", "ward 3", "Mozilla"].map((value) => {
      const { commitment: made, disclosure } = commitment("src.addr", value);
      const index = log.say({ type: "key.list", src: { addr: made } });
      return { index, field: "src.addr", commitment: made, salt: disclosure.salt, value };
    });
    const [first, second, third] = lines as [
      (typeof lines)[0],
      (typeof lines)[0],
      (typeof lines)[0],
    ];
    const frontier = new Frontier();
    frontier.append(
      hashLeaf(Buffer.from(`${second.index}\n${second.field}\n${second.commitment}`)),
    );
    const op = crypto.randomUUID();
    const erasure = { type: "privacy.erasure", op, object: { kind: "user", id: "usr-1" } } as const;
    log.say({ ...erasure, phase: "requested" });
    const erased = log.say({
      ...erasure,
      phase: "completed",
      outcome: { code: "ok" },
      detail: {
        erased: [
          {
            origin: ORIGIN,
            commitments_count: 1,
            commitments_root: frontier.root().toString("hex"),
          },
        ],
      },
    });
    const mark = (
      { index, field, commitment }: (typeof lines)[0],
      by = erased,
      origin = ORIGIN,
    ) => ({
      ...{ index, field, commitment },
      erased: { index: by, origin },
    });
    const verdict = async (disclosures: object[]) =>
      (await log.judge({ archive: log.archive({ disclosures }) })).verdicts.DISCLOSURES;
    t.match((await log.judge()).verdicts.DISCLOSURES, { verdict: "NOT CHECKED" });
    t.match(await verdict([first, mark(second)]), {
      verdict: "PASS",
      reason: /^1 values open.* 1 are ERASED.* 1 are not disclosed$/,
    });
    t.match(await verdict([{ ...first, value: "10.0.0.8" }]), {
      verdict: "FAIL",
      index: first.index,
    });
    t.match(
      await verdict([{ ...first, index: third.index }]),
      { verdict: "FAIL", index: third.index },
      "another entry's",
    );
    t.match(
      await verdict([{ ...first, field: "src.agent" }]),
      { verdict: "FAIL", index: first.index },
      "another field's",
    );
    t.match(await verdict([mark(second, first.index)]), { verdict: "FAIL", reason: /no erasure/ });
    t.match(await verdict([mark(second), mark(third)]), {
      verdict: "FAIL",
      reason: /states 1 commitments; 2 are marked/,
    });
    t.match(await verdict([{ ...first, index: 250 }]), { verdict: "FAIL" }, "beyond the entries");
    const archive = (disclosures: object[]) => log.judge({ archive: log.archive({ disclosures }) });
    t.match(await archive([third, first]), { refused: /not in order/ });
    t.match(await archive([first, first]), { refused: /not in order/ });
    t.match(await archive([{ ...first, more: 1 }]), { refused: /discloses nothing/ });
    t.match(
      await archive([{ ...mark(first), erased: erased }]),
      { refused: /discloses nothing/ },
      "a number names no shard",
    );

    const elsewhere = {
      origin: "box.audit.acme/2027",
      index: 7,
      stated: new Map([[ORIGIN, { count: 1, root: frontier.root().toString("hex") }]]),
    };
    const later = [mark(second, elsewhere.index, elsewhere.origin)];
    const given = async (isProven: boolean, changes: object = {}) =>
      (
        await log.judge({
          archive: log.archive({ disclosures: later }),
          erasures: [{ ...elsewhere, isProven, ...changes }],
        })
      ).verdicts.DISCLOSURES;
    t.match(
      await verdict(later),
      { verdict: "NOT CHECKED", reason: /entry 7 of box.audit.acme\/2027/ },
      "in another shard, without a proof",
    );
    t.match(await given(false), { verdict: "NOT CHECKED" }, "a proof that does not hold");
    t.match(await given(true), { verdict: "PASS", reason: /1 are ERASED/ });
    t.match(await given(true, { index: 8 }), { verdict: "NOT CHECKED" }, "of another entry");
    t.match(
      await given(true, { stated: new Map() }),
      { verdict: "FAIL", reason: /no erasure/ },
      "it says nothing of this shard",
    );
  },
);

t.test("a retention marks what it ended as an erasure does", async (t) => {
  const log = MadeLog.begun();
  const { commitment: made } = commitment("src.addr", "10.0.0.9");
  const index = log.say({ type: "key.list", src: { addr: made } });
  const frontier = new Frontier();
  frontier.append(hashLeaf(Buffer.from(`${index}\nsrc.addr\n${made}`)));
  const retention = {
    type: "privacy.retention",
    op: crypto.randomUUID(),
    object: { kind: "log", id: "vault" },
  } as const;
  const before = "2026-01-01T00:00:00.000Z";
  log.say({ ...retention, phase: "requested", detail: { before } });
  const by = log.say({
    ...{ ...retention, phase: "completed", outcome: { code: "ok" } },
    detail: {
      before,
      erased: [
        { origin: ORIGIN, commitments_count: 1, commitments_root: frontier.root().toString("hex") },
      ],
    },
  });
  const disclosures = [
    { index, field: "src.addr", commitment: made, erased: { index: by, origin: ORIGIN } },
  ];
  t.match((await log.judge({ archive: log.archive({ disclosures }) })).verdicts.DISCLOSURES, {
    verdict: "PASS",
    reason: /1 are ERASED/,
  });
});

t.test("the proof of an erasure counts when the policy's keys signed it", async (t) => {
  const log = MadeLog.begun();
  const root = "a".repeat(64);
  const erasure = {
    type: "privacy.erasure",
    op: crypto.randomUUID(),
    object: { kind: "user", id: "usr-1" },
  } as const;
  log.say({ ...erasure, phase: "requested" });
  const detail = {
    erased: [{ origin: "box.audit.acme/2025", commitments_count: 3, commitments_root: root }],
  };
  const index = log.say({ ...erasure, phase: "completed", outcome: { code: "ok" }, detail });
  const other = log.key();
  const proofOf = (at: number) => {
    const hashes = new InclusionOf(log.leaves.map(hashLeaf)).path(at);
    return Buffer.from(tlogProof(log.leaves[at]!, at, hashes, log.checkpoint()));
  };
  const read = async (at: number, policy: Buffer | null) =>
    erasureElsewhere(await verifyProof(proofOf(at), policy, nodePlatform));
  t.match(await read(index, log.policy()), { origin: ORIGIN, index, isProven: true });
  t.same((await read(index, log.policy()))?.stated.get("box.audit.acme/2025"), { count: 3, root });
  t.match(
    await read(index, null),
    { isProven: false },
    "no key is known that did not come with it",
  );
  t.match(await read(index, MadeLog.begun().policy()), { isProven: false }, "other keys");
  t.equal(await read(other, log.policy()), null, "an entry that erases nothing");
});

/** RFC 6962 §2.1.1, straight from its definition. */
class InclusionOf {
  readonly #hashes: readonly Buffer[];

  constructor(hashes: readonly Buffer[]) {
    this.#hashes = hashes;
  }

  path(index: number, from = 0, to = this.#hashes.length): Buffer[] {
    if (to - from === 1) return [];
    let half = 1;
    while (half * 2 < to - from) half *= 2;
    const isLeft = index < half;
    const sibling = isLeft ? this.#root(from + half, to) : this.#root(from, from + half);
    const below = isLeft
      ? this.path(index, from, from + half)
      : this.path(index - half, from + half, to);
    return [...below, sibling];
  }

  #root(from: number, to: number): Buffer {
    const frontier = new Frontier();
    for (const one of this.#hashes.slice(from, to)) frontier.append(one);
    return frontier.root();
  }
}

t.test("FRESHNESS and a sample that anybody can draw again", async (t) => {
  const log = MadeLog.begun();
  for (let n = 0; n < 40; n++) log.key();
  const nonce = createHash("sha256").update("today").digest();
  const op = crypto.randomUUID();
  const entry = log.say({
    ...{ type: "audit.export", op, phase: "requested", object: { kind: "log", id: "box" } },
    detail: { nonce: nonce.toString("hex") },
  });
  log.say({
    type: "audit.export",
    op,
    phase: "completed",
    outcome: { code: "ok" },
    object: { kind: "log", id: "box" },
  });
  const sample = {
    count: 5,
    filter: parseFilter("type=key.list,actor=usr-1")!,
    filterText: "type=key.list",
  };
  const report = await log.judge({ nonce, sample });
  t.match(report.freshness, { entry });
  t.equal((await log.judge({ nonce: Buffer.alloc(32) })).freshness, null, "another nonce");
  t.match(report.sample, { population: 40, entries: { length: 5 } });
  t.same((await log.judge({ nonce, sample })).sample, report.sample);
  t.notSame(
    (await log.judge({ nonce: Buffer.alloc(32), sample })).sample?.entries,
    report.sample?.entries,
  );
  const seed = createHash("sha256")
    .update(nonce)
    .update(Buffer.from(report.checkpoint!.root, "base64"))
    .digest();
  const counter = Buffer.alloc(8);
  const drawn = createHash("sha256").update(seed).update(counter).digest().readUIntBE(0, 6);
  t.equal(
    report.sample?.entries[0],
    3 + (drawn % 40),
    "the first is what the rule of the guide gives",
  );
  const population = new Population();
  for (const index of [5, 6, 7]) population.add(index);
  const all = draw(population, 9, nonce, Buffer.alloc(32), nodePlatform);
  t.same(new Set(all), new Set([5, 6, 7]), "no more than there are, none twice");
  for (const wrong of ["colour=blue", "type=a,type=b", "type"])
    t.equal(parseFilter(wrong), null, wrong);
});

t.test("a filter may take all others than one", async (t) => {
  const leaf = (type: string) =>
    ({ type, phase: "fact", prod: "p", actor: { sub: "u" }, object: { id: "o" } }) as never;
  const filter = parseFilter("type=!audit.heartbeat,phase=fact")!;
  t.notOk(isKept(leaf("audit.heartbeat"), filter));
  t.ok(isKept(leaf("key.list"), filter));
  t.notOk(isKept(leaf("key.list"), parseFilter("type=!audit.heartbeat,phase=!fact")!));
});

t.test(
  "WITNESSED: a runtime that does not know the kind of a cosignature judges nothing",
  async (t) => {
    const withoutMlDsa: Platform = {
      ...nodePlatform,
      verify: async (algorithm, ...rest) =>
        algorithm === "ml-dsa-44" ? null : nodePlatform.verify(algorithm, ...rest),
    };
    const log = MadeLog.begun();
    log.run(30);
    log.witness = noteSigner(
      "w.example/w1",
      KEY_TYPE.mlDsa44,
      generateKeyPairSync("ml-dsa-44").privateKey,
    );
    const verdict = async (note: string, platform: Platform) =>
      (await log.judge({ archive: log.archive({ note }), policy: log.policy("w1"), platform }))
        .verdicts.WITNESSED;
    const witnessed = log.checkpoint(log.leaves.length, { witnessed: true });
    t.match(await verdict(witnessed, nodePlatform), { verdict: "PASS" });
    t.match(await verdict(witnessed, withoutMlDsa), {
      verdict: "NOT CHECKED",
      reason: /does not know/,
    });
    t.match(
      await verdict(log.checkpoint(), withoutMlDsa),
      { verdict: "FAIL" },
      "no cosignature is none of any kind",
    );
  },
);

t.test("lapses of the witness are told with entries and times", async (t) => {
  const log = MadeLog.begun();
  const kept: string[] = [];
  for (const minutes of [20, 100, 30]) {
    log.run(minutes);
    kept.push(log.checkpoint(log.leaves.length, { witnessed: true }));
  }
  log.run(16);
  const { lapses } = await log.judge({ archive: log.archive({ kept }), policy: log.policy("w1") });
  t.strictSame(lapses, [
    {
      from: 23,
      to: 123,
      fromTime: "2026-03-01T08:20:00.000Z",
      toTime: "2026-03-01T10:00:00.000Z",
      activeMs: 100 * MINUTE,
    },
    {
      from: 153,
      to: 169,
      fromTime: "2026-03-01T10:30:00.000Z",
      toTime: "2026-03-01T10:46:00.000Z",
      activeMs: 16 * MINUTE,
    },
  ]);
  t.equal((await log.judge()).lapses, null, "nobody asked for a witness");
});

t.test("APPEND-ONLY: years of kept checkpoints are read line by line", async (t) => {
  const note = `${ORIGIN}\r\n5\r\n${Buffer.alloc(32).toString("base64")}\r\n\r\n`;
  const lines = `— ${ORIGIN} ${"A".repeat(4_000)}\n`;
  t.equal(
    parseKnown(Buffer.from(`# of the daily sheets\n${`${note}${lines}`.repeat(3)}`)).length,
    3,
  );
  t.equal(parseKnown(Buffer.from(note.trimEnd())).length, 1, "without its last line's end");
  for (const [what, text] of [
    ["two lines of three", `${ORIGIN}\n5\n`],
    [
      "a line that is too long",
      `${ORIGIN.repeat(100)}\n5\n${Buffer.alloc(32).toString("base64")}\n`,
    ],
    ["a report that is too long", `{"checkpoint":${" ".repeat(16_777_216)}null}`],
    ["50,001 of them", note.repeat(50_001)],
  ] as const)
    t.throws(() => parseKnown(Buffer.from(text)), { name: "Refused" }, what);
});

t.test(
  "a hundred thousand checkpoints in an export are judged in the time that their bytes take",
  async (t) => {
    const heads = new KnownHeads(ORIGIN, 200_000, []);
    const root = Buffer.alloc(32);
    for (let size = 100_000; size > 0; size--) heads.addOwn({ origin: ORIGIN, size, root });
    const before = process.cpuUsage();
    heads.note(new VerifierTree(nodePlatform));
    t.ok(process.cpuUsage(before).user < 5_000_000);
    const [log, witnessed, timeline] = [MadeLog.begun(), new Witnessed(), new Timeline()];
    const policy = parsePolicy(log.policy("w1"), nodePlatform);
    const seen = parseCheckpoint(Buffer.from(log.checkpoint(3, { witnessed: true })), "it");
    const always = { ...nodePlatform, verify: async () => true };
    for (let size = 1; size <= 100_000; size++) {
      await witnessed.add({ ...seen, size, root }, policy, always);
      witnessed.note({ size, root: () => root }, timeline);
    }
    t.match(witnessed.verdict(policy, 100_000, timeline), { verdict: "PASS" });
  },
);
