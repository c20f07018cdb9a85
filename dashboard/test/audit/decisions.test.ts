/** What the audit page decides without the appliance: periods, handles, links, words, and what a checked answer says. */
import type { ProofReport } from "@resontech/verifier/check-proof";
import t from "tap";
import { askedOf, askingPath } from "../../src/pages/audit/asked.ts";
import { askedWords } from "../../src/pages/audit/asked-words.ts";
import {
  answerSentence,
  answerVerdict,
  checkAnswer,
  lackWords,
} from "../../src/pages/audit/check-answer.ts";
import { detailFacts, objectWords, outcomeWord } from "../../src/pages/audit/entry-words.ts";
import type { FoundEntry } from "../../src/pages/audit/found-export.ts";
import { linkedEntries } from "../../src/pages/audit/linked-entries.ts";
import { isPseudonym, personOf, renamedPerson } from "../../src/pages/audit/named-people.ts";
import { dayOf, isPreset, PRESETS, withDay } from "../../src/pages/audit/period.ts";
import { shortIds } from "../../src/pages/audit/short-ids.ts";

const PERSON = `u_${"4f".repeat(12)}`;
const entry = (index: number, given: Partial<FoundEntry> = {}): FoundEntry => ({
  ...{ shard: "2026", index, t_log: "2026-11-26T10:00:00.000Z", type: "job.submit" },
  ...{ prod: "coordinator-gate", phase: "fact", op: `op-${index}`, sub: PERSON, onBehalfOf: null },
  ...{ kind: "job", object: "job-1", outcome: null, approval: null, source: null, handle: null },
  ...{ leafHash: "ab", proof: String(index), ...given },
});
const leafOf = ({ t_log, type, prod, phase, op, sub, kind, object }: FoundEntry) => ({
  ...{ t_log, type, prod, phase, op, actor: { sub }, object: { kind, id: object } },
});

/** As the verifier says it of a sound entry. */
function report(of: FoundEntry, given: Partial<ProofReport> = {}): ProofReport {
  const pass = { verdict: "PASS", reason: "" } as const;
  const asserted = { verdict: "SELF-ASSERTED", reason: "no policy" } as const;
  return {
    verdicts: {
      ...{ INTEGRITY: pass, SIGNATURE: asserted, WITNESSED: asserted, "APPEND-ONLY": asserted },
      ...{ COMPLETENESS: asserted, DISCLOSURES: asserted },
    },
    ...{ refused: null, policySha256: null, index: of.index, event: JSON.stringify(leafOf(of)) },
    checkpoint: { origin: `box.audit.site/${of.shard}`, size: 1_500 },
    ...given,
  };
}
const check = (entries: FoundEntry[], saying: (of: FoundEntry) => ProofReport = report) =>
  checkAnswer(
    entries,
    null,
    async (proof) => saying(entries.find((one) => one.proof === proof)!),
    async () => {},
  );

t.test("a sound answer says how many entries stand in which tree", async (t) => {
  const found = await check([entry(9), entry(8), entry(7)]);
  t.match(found, { count: 3, failed: [], isGapless: true, signature: "SELF-ASSERTED" });
  t.equal(
    answerSentence(found),
    "All 3 entries stand in the log, and the log says what this page shows. The proofs lead to its signed head: 1,500 entries in 2026.",
  );
  t.match(answerSentence(await check([entry(7)])), /^The entry stands in the log/);
  t.equal((await check([entry(9), entry(7)])).isGapless, false);
});

t.test("whatever differs from the log is named with its entry", async (t) => {
  const failed = async (given: FoundEntry, saying: (of: FoundEntry) => ProofReport) =>
    (await check([given], saying)).failed;
  t.match(await failed(entry(7, { outcome: "ok" }), report), [
    { entry: "2026/7", reason: "the list says otherwise than the log: its outcome" },
  ]);
  t.match(await failed(entry(7), (of) => report(of, { index: 6 })), [{ reason: /of entry 6/ }]);
  t.match(await failed(entry(7), (of) => report(of, { refused: "too long" })), [
    { reason: "its proof is none: too long" },
  ]);
  const otherLog = { origin: "box.audit.site/2025", size: 9 };
  t.match(await failed(entry(7), (of) => report(of, { checkpoint: otherLog })), [
    { reason: /of the log box\.audit\.site\/2025/ },
  ]);
  const { verdicts } = report(entry(7));
  const broken = {
    ...verdicts,
    INTEGRITY: { verdict: "FAIL", reason: "no way to the root" },
  } as const;
  const bad = await check([entry(7)], (of) => report(of, { verdicts: broken }));
  t.match(bad.failed, [{ reason: "no way to the root" }]);
  t.match(answerSentence(bad), /^1 of 1 entries do not stand/);
  t.match((await check([entry(7), entry(7)])).failed, [{ reason: "it is there twice" }]);
});

t.test("a signature that the auditor's policy does not bear out fails, and says why", async (t) => {
  const one = entry(7);
  const { verdicts } = report(one);
  const SIGNATURE = { verdict: "FAIL", reason: "no key of the policy" } as const;
  const found = await checkAnswer(
    [one],
    "policy",
    async () => report(one, { verdicts: { ...verdicts, SIGNATURE } }),
    async () => {},
  );
  t.match(found, { signature: "FAIL", signatureReason: "no key of the policy", failed: [] });
});

t.test("an answer of which entries may be missing is verified in part, and says why", async (t) => {
  const sound = await check([entry(9), entry(8)]);
  const whole = { isCut: false, behind: 0, incomplete: [], listed: 2 };
  t.equal(answerVerdict(sound, whole), "good");
  t.equal(answerVerdict(sound, { ...whole, listed: null }), "good", "a list that goes on");
  for (const [given, why] of [
    [{ isCut: true }, /older entries are missing/],
    [{ behind: 3 }, /newest 3 entries/],
    [{ incomplete: ["2025"] }, /Entries of 2025/],
    [{ listed: 3 }, /The list has 3 entries, and 2 were checked/],
  ] as const) {
    t.equal(answerVerdict(sound, { ...whole, ...given }), "part");
    t.match(lackWords(sound, { ...whole, ...given }), why);
  }
  const bad = await check([entry(9)], (of) => report(of, { index: 1 }));
  t.equal(answerVerdict(bad, { ...whole, isCut: true }), "bad", "what is wrong comes first");
});

t.test("what somebody set out to do and how it ended find each other", async (t) => {
  const [request, outcome, other] = [
    entry(3, { op: "a", phase: "requested" }),
    entry(5, { op: "a", phase: "completed", outcome: "ok" }),
    entry(4, { op: "b", phase: "requested" }),
  ];
  const linked = linkedEntries([outcome, other, request]);
  t.same(linked.get("2026/3"), { outcome });
  t.same(linked.get("2026/5"), { request });
  t.same(linked.get("2026/4"), {}, "one that is open, or ended outside the answer");
});

t.test(
  "a long id has the shortest handle that tells it from all others of the answer",
  async (t) => {
    const [one, alike] = [`u_${"a".repeat(24)}`, `u_${"a".repeat(23)}b`];
    t.same(
      [...shortIds([PERSON, "node-a", "job-7f3a", PERSON])],
      [
        [PERSON, "u_4f4f4f"],
        ["node-a", "node-a"],
        ["job-7f3a", "job-7f3a"],
      ],
    );
    const both = shortIds([one, alike]);
    t.not(both.get(one), both.get(alike));
  },
);

t.test("a day at one end, or a preset: the address has what the API reads", async (t) => {
  t.same(withDay({ from: "7d" }, "to", "2026-11-26"), { from: "7d", to: "2026-11-26" });
  t.same(withDay({ from: "2026-11-01", to: "2026-11-26" }, "from", ""), { to: "2026-11-26" });
  t.equal(dayOf("7d"), "");
  t.equal(dayOf("2026-11-26"), "2026-11-26");
  const pressed = (period: { from?: string; to?: string }) =>
    PRESETS.filter(([, preset]) => isPreset(period, preset)).map(([title]) => title);
  t.same(pressed({ from: "30d" }), ["30 days"]);
  t.same(pressed({}), ["All"]);
  t.same(pressed({ from: "2026-11-26" }), []);
});

t.test("nothing is asked of the log unless the address says that somebody did", async (t) => {
  const of = (text: string) => askedOf(new URLSearchParams(text));
  t.same(of("type=key.list"), { question: null, about: { type: "key.list" }, at: null });
  t.same(of("question=person&person=u_1&type=x&from=7d&asked=5"), {
    ...{ question: "person", about: { person: "u_1", from: "7d" }, at: "5" },
  });
  t.equal(askingPath({ approval: "a_1" }, 7), "/audit?approval=a_1&asked=7");
});

t.test("outcomes, objects and details are told in words", async (t) => {
  const word = (phase: string, outcome: string | null = null) =>
    outcomeWord({ phase, outcome })?.word;
  t.same(
    [word("requested"), word("completed", "ok"), word("denied", "x"), word("failed", "x")],
    ["asked", "done", "refused", "failed"],
  );
  t.equal(word("fact"), undefined);
  t.equal(word("fact", "quota_exceeded"), "refused");
  t.same(objectWords({ kind: "appliance", object: "appliance" }), ["the appliance", null]);
  t.same(objectWords({ kind: "job", object: "job-1" }), ["job", "job-1"]);
  t.same(
    detailFacts({ by_approval: true, approvers: [PERSON], role: "viewer", quota_bytes: 5 }, (id) =>
      id === PERSON ? "ada" : id,
    ),
    [
      ["by approval", "yes"],
      ["approvers", "ada"],
      ["role", "viewer"],
      ["quota bytes", "5"],
    ],
  );
});

const NOBODY = new Map<string, string>();
const NAMES = new Map([[PERSON, "ada"]]);

t.test("what was asked is told by name while names are shown, with the pseudonym", async (t) => {
  const asked = askedOf(new URLSearchParams({ question: "person", person: PERSON, from: "7d" }));
  const of = (names: ReadonlyMap<string, string>) => askedWords(asked, names);
  t.match(of(NAMES), {
    title: /^What did a person do/,
    facts: [{ label: "Person", value: "ada", id: PERSON }],
    period: "in the last 7 days",
  });
  t.same(of(NOBODY).facts, [{ label: "Person", value: PERSON, id: null }]);
  const search = askedOf(
    new URLSearchParams({ actor: PERSON, object: PERSON, from: "2026-01-01", to: "2026-02-01" }),
  );
  t.match(askedWords(search, NAMES), {
    facts: [
      { label: "Who", value: "ada" },
      { label: "To what", value: PERSON, id: null },
    ],
    period: "from 2026-01-01 to 2026-02-01",
  });
  const period = (given: Record<string, string>) =>
    askedWords(askedOf(new URLSearchParams({ question: "complete", ...given })), NOBODY).period;
  t.equal(period({}), "in all that is kept");
  t.equal(period({ from: "yesterday" }), "since yesterday");
  t.equal(period({ to: "2026-02-01" }), "until 2026-02-01");
  t.equal(askedWords(askedOf(new URLSearchParams({ question: "other" })), NOBODY).title, "other");
});

t.test("the log is asked by pseudonym alone, whatever is written", async (t) => {
  t.equal(personOf("ada", NAMES), PERSON);
  t.equal(personOf("ada", NOBODY), "ada");
  for (const known of [PERSON, "sa_0123456789abcdef01234567", "operator", "anonymous"])
    t.ok(isPseudonym(known), known);
  for (const name of ["ada", "u_ada", "Ada Lovelace", "", "ada@example.org", "deadbeef"])
    t.notOk(isPseudonym(name), name);
});

t.test("a field follows names that are shown and hidden, and keeps what it means", async (t) => {
  t.equal(renamedPerson(PERSON, NOBODY, NAMES), "ada");
  t.equal(renamedPerson("ada", NAMES, NOBODY), PERSON);
  t.equal(renamedPerson("node-a", NAMES, NOBODY), "node-a");
});
