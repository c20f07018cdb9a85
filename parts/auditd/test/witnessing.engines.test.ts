import { generateKeyPairSync } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import t, { type Test } from "tap";
import {
  parseCheckpoint,
  type SignedCheckpoint,
  signatureOf,
} from "@resontech/audit/format/note/checkpoint";
import {
  KEY_TYPE,
  type KeyType,
  type NoteSigner,
  noteSigner,
  verifierKey,
} from "@resontech/audit/format/note/note-key";
import { formatSignatureLine } from "@resontech/audit/format/note/signed-note";
import { Link } from "@resontech/audit/producer/link";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { parseCheckpoint as parseJudged } from "@resontech/verifier/input/note";
import type { CosignReply, Query, Witnessed } from "@resontech/audit/format/wire/frames";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { PEOPLE } from "@resontech/audit/testing/step-up-people";

const newWitness = (name: string, type: KeyType = KEY_TYPE.ed25519Cosignature): NoteSigner =>
  noteSigner(
    name,
    type,
    (type === KEY_TYPE.mlDsa44 ? generateKeyPairSync("ml-dsa-44") : generateKeyPairSync("ed25519"))
      .privateKey,
  );

const nowS = () => Math.floor(Date.now() / 1_000);
const line = (checkpoint: SignedCheckpoint, witness: NoteSigner, timeS = nowS()) =>
  formatSignatureLine(signatureOf(checkpoint, witness, timeS));
const readCheckpoint = (path: string): SignedCheckpoint =>
  parseCheckpoint(readFileSync(path, "utf8"))!;

const linkTo = (auditd: AuditdFixture, name: string): Link =>
  new Link({
    ...{ socketPath: auditd.socket(name), boot: "o-1", firstPseq: 1 },
    ...{ highestAck: undefined, seen: undefined, signal: undefined },
  });

/** Asked again while the connection is away. */
async function asked(link: Link, query: Query): Promise<unknown> {
  for (const deadline = performance.now() + 120_000; ; await sleep(50)) {
    const reply = await link.query(query).catch(() => null);
    if (reply !== null || performance.now() > deadline) return reply;
  }
}

/** A log whose policy says `rest` after its log lines, with what audit-out may say to auditd. */
async function witnessedLog(
  t: Test,
  rest: string,
  changes: Partial<AuditdConfig> = {},
  clockMs: number | null = null,
) {
  const root = temporaryFolder(t);
  const auditd = new AuditdFixture(root, {
    producers: ["appliance", "audit-out"].map((name) => ({
      name,
      family: name,
      socket: join(root, "run", `${name}.sock`),
      gid: null,
    })),
    learnMs: 0,
    checkpointMs: 10,
    ...changes,
  });
  auditd.clockMs = clockMs;
  auditd.init();
  setPolicy(auditd, (logs) => `${logs}${rest}`);
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const producer = await connectProducer({ socketPath: auditd.socket("appliance"), boot: "b-1" });
  const outward = linkTo(auditd, "audit-out");
  await outward.welcomed;
  t.teardown(() => Promise.all([producer.close(), outward.close(0)]));
  const origin = `box.audit.acme/${auditd.currentSlug}`;
  return {
    auditd,
    producer,
    outward,
    checkpoint: () => readCheckpoint(join(auditd.logDir, "checkpoint")),
    cosign: async (size: number, lines: string, of = origin) =>
      (await asked(outward, { verb: "cosign", origin: of, size, lines })) as CosignReply,
    witnessed: async (index: number) =>
      (await asked(outward, { verb: "witnessed", index })) as Witnessed,
  };
}

/** Replaces what follows the log lines. */
function setPolicy({ config, root }: AuditdFixture, change: (logLines: string) => string): void {
  const logs = readFileSync(config.policyFile, "utf8")
    .match(/^log .*\n/gm)!
    .join("");
  writeFileSync(join(root, "policy.new"), change(logs));
  renameSync(join(root, "policy.new"), config.policyFile);
}

const factCovered = async (producer: AuditProducer): Promise<number> => {
  const { index } = await producer.fact(keyList());
  await producer.covered(index);
  return index;
};

t.test("a policy that asks for no witness says so at once", async (t) => {
  const { auditd, producer, cosign, witnessed, checkpoint } = await witnessedLog(
    t,
    "quorum none\n",
  );
  const index = await factCovered(producer);
  t.same(await witnessed(index), {
    witnessed: false,
    needsWitness: false,
    mayGoOn: true,
    witnessedSize: 0,
  });
  t.same(
    await cosign(checkpoint().size, line(checkpoint(), newWitness("w"))),
    { accepted: 0 },
    "nobody is known",
  );
  t.notOk(existsSync(join(auditd.logDir, "checkpoint.witnessed")));
});

t.test(
  "cosignatures are merged, and a quorum of nested groups makes the checkpoint a witnessed one",
  async (t) => {
    const [a, b, c, d] = ["a", "b", "c", "d"].map((name) =>
      newWitness(`${name}.example`, name === "d" ? KEY_TYPE.mlDsa44 : KEY_TYPE.ed25519Cosignature),
    ) as [NoteSigner, NoteSigner, NoteSigner, NoteSigner];
    const lines = [a, b, c, d]
      .map((witness, at) => `witness w${at} ${verifierKey(witness)}\n`)
      .join("");
    const { auditd, producer, cosign, witnessed, checkpoint } = await witnessedLog(
      t,
      `${lines}group two 2 w0 w1 w2\ngroup both all two w3\nquorum both\n`,
    );
    const index = await factCovered(producer);
    const head = checkpoint();
    const files = ["checkpoint.witnessed", `checkpoints/${head.size}`].map((name) =>
      join(auditd.logDir, name),
    );

    const damaged = line(head, a).replace(/.{6}\n$/, "AAAAA=\n");
    const refused: [string, string][] = [
      ["a line that is damaged", damaged],
      ["of a stranger", line(head, newWitness("a.example"))],
      ["for another tree", line({ ...head, size: head.size - 1 }, a)],
      ["that states no time", line(head, d, 0)],
      ["the log's own", readFileSync(join(auditd.logDir, "checkpoint"), "utf8").split("\n\n")[1]!],
      ["no line at all", "hello"],
      ["nothing", ""],
    ];
    for (const [what, lines] of refused)
      t.same(await cosign(head.size, lines), { accepted: 0 }, what);
    t.same(
      await cosign(head.size - 1, line({ ...head, size: head.size - 1 }, a)),
      { accepted: 0 },
      "a size that was never signed",
    );
    t.same(
      await cosign(head.size, line(head, a), "other.audit.acme/2026"),
      { accepted: 0 },
      "another log",
    );
    t.same(checkpoint(), head);

    t.same(
      await cosign(head.size, damaged + line(head, a) + line(head, a)),
      { accepted: 1 },
      "one line of each witness",
    );
    t.same(await cosign(head.size, line(head, a)), { accepted: 0 }, "again");
    t.same(
      checkpoint().signatures.map(({ name }) => name),
      [...head.signatures.map(({ name }) => name), "a.example"],
    );
    const waiting = witnessed(index);
    t.same(await cosign(head.size, line(head, d)), { accepted: 1 });
    t.notOk(files.some(existsSync), "no quorum yet");
    t.same(await cosign(head.size, line(head, c)), { accepted: 1 });
    t.same(await waiting, {
      witnessed: true,
      needsWitness: true,
      mayGoOn: true,
      witnessedSize: head.size,
    });
    for (const file of files) {
      t.equal(readCheckpoint(file).signatures.length, 5, file);
      t.equal(statSync(file).mode & 0o777, 0o440, file);
    }
    t.same(await cosign(head.size, line(head, b)), { accepted: 1 }, "one more than needed");
    t.equal(readCheckpoint(files[0]!).signatures.length, 6);

    await factCovered(producer);
    const next = checkpoint();
    t.same(await cosign(next.size, [a, b, d].map((witness) => line(next, witness)).join("")), {
      accepted: 3,
    });
    t.equal(readCheckpoint(files[0]!).size, next.size);
    t.same(
      readdirSync(join(auditd.logDir, "checkpoints")),
      [String(head.size)],
      "one an hour is kept",
    );
    t.same(await cosign(head.size, line(head, b)), { accepted: 0 });
    t.equal(
      checkpoint().size,
      next.size,
      "an answer for an older checkpoint changes nothing of the newest",
    );

    await auditd.stop("SIGKILL");
    await auditd.start();
    t.same(
      await witnessed(next.size - 1),
      { witnessed: true, needsWitness: true, mayGoOn: true, witnessedSize: next.size },
      "after kill -9",
    );
  },
);

t.test(
  "32 witnesses, each of which the quorum needs, all stand under the checkpoint",
  async (t) => {
    const witnesses = Array.from({ length: 32 }, (_, at) => newWitness(`w${at}.example`));
    const lines = witnesses
      .map((witness, at) => `witness w${at} ${verifierKey(witness)}\n`)
      .join("");
    const all = `group all all ${witnesses.map((_, at) => `w${at}`).join(" ")}\nquorum all\n`;
    const { auditd, producer, cosign, witnessed, checkpoint } = await witnessedLog(
      t,
      `${lines}${all}`,
    );
    const index = await factCovered(producer);
    const head = checkpoint();
    t.same(
      await cosign(head.size, witnesses.map((witness) => line(head, witness)).join("")),
      { accepted: 32 },
      "in one answer",
    );
    t.match(await witnessed(index), { witnessed: true, witnessedSize: head.size });
    await factCovered(producer);
    const next = checkpoint();
    for (const witness of witnesses)
      t.same(await cosign(next.size, line(next, witness)), { accepted: 1 }, witness.name);
    const witnessedFile = join(auditd.logDir, "checkpoint.witnessed");
    t.equal(readCheckpoint(witnessedFile).size, next.size);
    const names = [...new Set(readCheckpoint(witnessedFile).signatures.map(({ name }) => name))];
    t.same(names, [head.origin, ...witnesses.map(({ name }) => name)]);
    t.equal(
      parseJudged(readFileSync(witnessedFile), "it").signatures.length,
      34,
      "the verifier reads it",
    );
    await auditd.stop();
    await auditd.start();
    t.match(
      await witnessed(next.size - 1),
      { witnessed: true, witnessedSize: next.size },
      "so does a start",
    );
  },
);

t.test(
  "a policy with more witnesses than fit under a checkpoint is refused, when it is set and at the start",
  async (t) => {
    const post = Array.from({ length: 19 }, (_, at) =>
      newWitness(`w${at}.example`, KEY_TYPE.mlDsa44),
    );
    const lines = (count: number) =>
      post
        .slice(0, count)
        .map((witness, at) => `witness w${at} ${verifierKey(witness)}\n`)
        .join("");
    const { auditd, producer, cosign, checkpoint } = await witnessedLog(t, "quorum none\n");
    const logs = readFileSync(auditd.config.policyFile, "utf8")
      .match(/^log .*\n/gm)!
      .join("");
    const set = (policy: string) =>
      auditd.control({ verb: "set-policy", policy, approval: PEOPLE.policyProof(policy) });
    const tooMany = `${logs}${lines(19)}quorum w0\n`;
    t.match(await set(tooMany), { error: { code: "witnesses_too_many", message: /19 witnesses/ } });
    t.notMatch(readFileSync(auditd.config.policyFile, "utf8"), /witness/);
    t.match(await set(`${logs}${lines(18)}quorum w17\n`), { rolledBack: null });
    await factCovered(producer);
    const head = checkpoint();
    for (const witness of post.slice(0, 18))
      t.same(await cosign(head.size, line(head, witness)), { accepted: 1 });
    t.equal(readCheckpoint(join(auditd.logDir, "checkpoint.witnessed")).signatures.length, 20);

    setPolicy(auditd, () => tooMany);
    t.same(
      await cosign(head.size, line(head, post[18]!)),
      { accepted: 0 },
      "a file that changed is not taken",
    );
    for (
      const deadline = performance.now() + 120_000;
      !auditd.output.includes("witnesses_too_many") && performance.now() < deadline;
    )
      await sleep(20);
    t.match(auditd.output, /witnesses_too_many/);
    await auditd.stop();
    await t.rejects(auditd.start(), { message: /audit\.policy: witnesses_too_many/ });
  },
);

t.test("a witness with a new key counts by that one alone", async (t) => {
  const [old, fresh] = [newWitness("w.example"), newWitness("w.example")];
  const { auditd, producer, cosign, checkpoint } = await witnessedLog(
    t,
    `witness w ${verifierKey(old)}\nwitness v ${verifierKey(newWitness("v"))}\ngroup g all w v\nquorum g\n`,
  );
  await factCovered(producer);
  const head = checkpoint();
  t.same(await cosign(head.size, line(head, old)), { accepted: 1 });
  setPolicy(auditd, (logs) => `${logs}witness w ${verifierKey(fresh)}\nquorum w\n`);
  t.same(await cosign(head.size, line(head, old)), { accepted: 0 });
  t.notOk(existsSync(join(auditd.logDir, "checkpoint.witnessed")));
  t.same(await cosign(head.size, line(head, fresh)), { accepted: 1 });
  t.ok(existsSync(join(auditd.logDir, "checkpoint.witnessed")));
});

t.test(
  "without a quorum the wait ends after 5 s, and an answer for a checkpoint that is no longer the newest counts",
  async (t) => {
    const w = newWitness("w.example");
    const { auditd, producer, cosign, witnessed, checkpoint } = await witnessedLog(
      t,
      `witness w ${verifierKey(w)}\nquorum w\n`,
    );
    const first = await factCovered(producer);
    const head = checkpoint();
    const startedMs = performance.now();
    t.match(await witnessed(first), { witnessed: false, needsWitness: true });
    t.ok(performance.now() - startedMs >= 4_900);
    const last = await factCovered(producer);
    const newest = readFileSync(join(auditd.logDir, "checkpoint"), "utf8");
    t.same(await cosign(head.size, line(head, w)), { accepted: 1 });
    t.equal(readFileSync(join(auditd.logDir, "checkpoint"), "utf8"), newest);
    t.match(await witnessed(first), { witnessed: true, witnessedSize: head.size });
    void witnessed(last);
    t.equal(await auditd.stop(), 0, "nobody is waited for at the end");
  },
);

t.test("a changed policy is taken at once, but never with other log lines", async (t) => {
  const [w, v] = [newWitness("w.example"), newWitness("v.example")];
  const { auditd, producer, cosign, checkpoint } = await witnessedLog(
    t,
    `witness w ${verifierKey(w)}\nquorum w\n`,
  );
  await factCovered(producer);
  const head = checkpoint();
  const quorumOfV = `witness v ${verifierKey(v)}\nquorum v\n`;
  const foreign = noteSigner(
    "box.audit.acme/2026",
    KEY_TYPE.ed25519,
    generateKeyPairSync("ed25519").privateKey,
  );
  const refused: [string, (logs: string) => string][] = [
    ["a log line less", (logs) => `${logs.split("\n")[0]}\n${quorumOfV}`],
    ["none", () => quorumOfV],
    ["another key for this shard", (logs) => `${logs}log ${verifierKey(foreign)}\n${quorumOfV}`],
    [
      "another log",
      (logs) =>
        `${logs}log ${verifierKey(noteSigner("evil.audit.acme/2026", KEY_TYPE.ed25519, foreign.privateKey))}\n${quorumOfV}`,
    ],
    ["no policy", (logs) => `${logs}quorum nobody\n`],
  ];
  const logLines = readFileSync(auditd.config.policyFile, "utf8")
    .match(/^log .*\n/gm)!
    .join("");
  for (const [what, change] of refused) {
    setPolicy(auditd, () => change(logLines));
    t.same(await cosign(head.size, line(head, v)), { accepted: 0 }, what);
    writeFileSync(join(auditd.root, "sound"), logLines);
    rmSync(auditd.config.policyFile);
    renameSync(join(auditd.root, "sound"), auditd.config.policyFile);
  }
  t.match(auditd.output, /the changed trust policy is not taken/);
  t.same(await cosign(head.size, line(head, w)), { accepted: 1 }, "the one before stays");
  setPolicy(auditd, () => `${logLines}${quorumOfV}`);
  t.same(await cosign(head.size, line(head, v)), { accepted: 1 });
  t.equal(readCheckpoint(join(auditd.logDir, "checkpoint.witnessed")).signatures.length, 4);
  await auditd.stop();
  writeFileSync(auditd.config.policyFile, "quorum nobody\n");
  await t.rejects(
    auditd.start(),
    { message: /audit\.policy: policy_invalid: line 1/ },
    "a start without a policy is refused",
  );
});

t.test("nobody but audit-out hands cosignatures in", async (t) => {
  const { auditd, producer, checkpoint } = await witnessedLog(t, "quorum none\n");
  await producer.close();
  const link = linkTo(auditd, "appliance");
  t.teardown(() => link.close(0));
  await link.welcomed;
  const head = checkpoint();
  await t.rejects(
    link.query({
      verb: "cosign",
      origin: head.origin,
      size: head.size,
      lines: line(head, newWitness("w")),
    }),
    "the connection ends",
  );
});

t.test("15 minutes without a quorum are an entry of the log, and so is their end", async (t) => {
  const w = newWitness("w.example");
  const twentyMinutesOn = Date.now() + 1_200_000;
  const { auditd, cosign, checkpoint } = await witnessedLog(
    t,
    `witness w ${verifierKey(w)}\nquorum w\n`,
    { heartbeatMs: 100 },
    twentyMinutesOn,
  );
  const lags = async () =>
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.witness.lag");
  const until = async (count: number) => {
    for (
      const deadline = performance.now() + 120_000;
      (await lags()).length < count && performance.now() < deadline;
    )
      await sleep(50);
  };
  const heartbeats = async () =>
    (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.heartbeat").length;
  /** Each looks at it once more. */
  const moreHeartbeats = async () => {
    const upTo = (await heartbeats()) + 3;
    while ((await heartbeats()) < upTo) await sleep(50);
  };
  await until(1);
  await moreHeartbeats();
  // The file's own time is the true one: what is written now counts as 20 minutes old to this auditd.
  const [begun, ...more] = await lags();
  t.match(begun, { prod: "auditd", detail: { over: false, witnessed_size: 0 } });
  t.ok(Number(begun?.detail?.["since_s"]) >= 1_190);
  t.same(more, [], "once");
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await auditd.stop(signal);
    await auditd.start();
    await moreHeartbeats();
    t.equal((await lags()).length, 1, `nor again after a start, ${signal}`);
  }
  let accepted = 0;
  for (let tries = 0; accepted === 0 && tries < 50; tries++) {
    const head = checkpoint();
    ({ accepted } = await cosign(head.size, line(head, w)));
  }
  await until(2);
  t.match((await lags())[1], { detail: { over: true } });
});

t.test("the last checkpoint of the shard before is cosigned after the turn", async (t) => {
  const w = newWitness("w.example");
  const { auditd, cosign } = await witnessedLog(
    t,
    `witness w ${verifierKey(w)}\nquorum w\n`,
    { inception: "2026-12-20" },
    Date.parse("2026-12-20T10:00:00Z"),
  );
  await auditd.stop();
  auditd.clockMs = Date.parse("2027-01-01T00:00:05Z");
  await auditd.start();
  await auditd.control({ verb: "clock-is-right" });
  t.equal(auditd.currentSlug, "2027");
  const last = readCheckpoint(join(auditd.shardDir("2026"), "checkpoint"));
  t.same(await cosign(last.size, line(last, w), last.origin), { accepted: 1 });
  t.equal(readCheckpoint(join(auditd.shardDir("2026"), "checkpoint.witnessed")).size, last.size);
  t.equal(readCheckpoint(join(auditd.shardDir("2026"), "checkpoint")).signatures.length, 3);
});

t.test(
  "after a turn, who waits for an entry of the shard before is answered by its last checkpoint",
  async (t) => {
    const w = newWitness("w.example");
    const { auditd, producer, cosign, witnessed } = await witnessedLog(
      t,
      `witness w ${verifierKey(w)}\nquorum w\n`,
      { inception: "2026-12-20" },
      Date.parse("2026-12-20T10:00:00Z"),
    );
    const [early, late] = [
      await producer.fact(keyList()),
      (await Promise.all(Array.from({ length: 40 }, () => producer.fact(keyList())))).at(-1)!,
    ];
    await auditd.stop();
    auditd.clockMs = Date.parse("2027-01-01T00:00:05Z");
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    const last = readCheckpoint(join(auditd.shardDir("2026"), "checkpoint"));
    while (!producer.connected) await sleep(20);
    for (let n = 0; n < 10; n++) await producer.fact(keyList());

    t.same(await producer.covered(late.index), { checkpointSize: last.size });
    t.same(
      await producer.covered(early.index, early.leafHash),
      { checkpointSize: last.size },
      "also where the new one has an entry",
    );
    t.match(await witnessed(late.index), {
      witnessed: false,
      needsWitness: true,
      witnessedSize: 0,
    });
    const waiting = producer.witnessed(late.index);
    t.same(await cosign(last.size, line(last, w), last.origin), { accepted: 1 });
    t.match(await waiting, { witnessed: true, needsWitness: true, witnessedSize: last.size });
    t.match(await producer.witnessed(early.index, early.leafHash), {
      witnessed: true,
      witnessedSize: last.size,
    });
    t.match(
      await producer.witnessed(early.index),
      { witnessed: false, witnessedSize: 0 },
      "an index alone is of the new one",
    );

    t.equal(producer.connected, true);
    const waits: (() => Promise<unknown>)[] = [
      () => producer.covered(last.size),
      () => producer.witnessed(last.size),
      () => producer.covered(early.index, late.leafHash),
    ];
    for (const wait of waits) {
      while (!producer.connected) await sleep(20);
      await t.rejects(
        wait(),
        { message: /closed the connection/ },
        "an entry that is nowhere is not waited for",
      );
    }
    const open = producer.witnessed(late.index + 1).catch(() => {});
    await auditd.stop();
    await open;
  },
);

t.test("an action on keys waits for a witness; others don't", async (t) => {
  const w = newWitness("w.example");
  const { auditd, producer, cosign, checkpoint } = await witnessedLog(
    t,
    `witness w ${verifierKey(w)}\nquorum w\n`,
  );
  const revoke = () => ({
    ...({ type: "key.revoke", op: crypto.randomUUID() } as const),
    ...({ actor: { sub: "usr-1", kind: "user" }, object: { kind: "key", id: "k-1" } } as const),
  });
  const withoutWitness = {
    ...revoke(),
    type: "job.cancel",
    object: { kind: "job", id: "j-1" },
  } as const;
  t.match(await producer.requested(withoutWitness), { unwitnessed: false });

  const waiting = producer.requested(revoke());
  const answers: unknown[] = [];
  void waiting.then((answer) => answers.push(answer));
  for (; answers.length === 0; await sleep(5))
    await cosign(checkpoint().size, line(checkpoint(), w));
  t.match(await waiting, { unwitnessed: false }, "the witness has seen it");

  const began = performance.now();
  t.match(await producer.requested(revoke()), { unwitnessed: true }, "the witness is away");
  t.ok(performance.now() - began >= 4_900, "it was waited for");

  await auditd.stop();
  writeFileSync(auditd.configFile, JSON.stringify({ ...auditd.config, unwitnessed: "refuse" }));
  await auditd.start();
  while (!producer.connected) await sleep(20);
  const refused = revoke();
  await t.rejects(producer.requested(refused), {
    code: "audit_unavailable",
    reason: "unwitnessed",
  });
  await factCovered(producer);
  const leaves = (await readLeaves(auditd.logDir)).filter(({ op }) => op === refused.op);
  t.match(leaves, [{ phase: "requested" }, { phase: "denied", outcome: { code: "unwitnessed" } }]);
});
