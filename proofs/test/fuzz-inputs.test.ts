/** What the fuzzing of the verifier rests on: forged logs that are sound until they are changed, and inputs that their numbers alone decide. */
import t from "tap";
import { nodePlatform, verify } from "@resontech/verifier/judge";
import { Dice } from "../audit/fuzz/dice.ts";
import { Forge, type ForgedLog, HONEST, ORIGIN } from "../audit/fuzz/forged-log.ts";
import { HonestContent } from "../audit/fuzz/honest-content.ts";
import { inputOf } from "../audit/fuzz/input.ts";
import { faultOf, judged } from "../audit/fuzz/judged.ts";
import { InputMaker } from "../audit/fuzz/make-input.ts";
import { leavesOf, member, nameOf, putTogether, takenApart } from "../audit/fuzz/members.ts";
import { newKeyRing, NoteKeys } from "../audit/fuzz/note-keys.ts";
import { release, releaseObjection, startsOf, startsOfVersion } from "../audit/fuzz/releases.ts";
import type { Samples } from "../audit/fuzz/samples.ts";

const ring = newKeyRing();
const keys = new NoteKeys(ring);

function leaf(at: number): Buffer {
  const id = `${at.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000`;
  const time = new Date(Date.UTC(2026, 0, 1) + at).toISOString();
  const event = {
    ...{
      actor: { kind: "system", sub: "auditd" },
      boot: "b",
      id,
      object: { id: "auditd", kind: "log" },
      op: id,
      phase: "fact",
    },
    ...{
      prod: "auditd",
      pseq: at + 1,
      schema_sha256: "f".repeat(64),
      t: time,
      t_log: time,
      type: "audit.stop",
      v: 1,
    },
  };
  return Buffer.from(JSON.stringify(event));
}

function forged(size: number, changes: Partial<ForgedLog> = {}): ForgedLog {
  return {
    ...{
      origin: ORIGIN,
      leaves: Array.from({ length: size }, (_, at) => leaf(at)),
      note: HONEST,
      kept: [],
      disclosures: new Map(),
    },
    ...{
      policy: [{ key: "ed25519", as: "log" }, "quorum none"],
      known: [],
      knownSizes: [],
      erasures: [],
      releases: [],
      downtime: null,
    },
    ...{ nonce: null, sample: null, ...changes },
  };
}

async function* onePiece(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield Uint8Array.from(bytes);
}

const verdictsOf = async (log: ForgedLog, sizeOfDice = 1) => {
  const { file, policy } = new Forge(keys, new Dice(sizeOfDice)).input(log);
  const { refused, verdicts } = await verify({
    bundle: onePiece(file),
    policy,
    platform: nodePlatform,
  });
  return { refused, signature: verdicts.SIGNATURE.verdict, integrity: verdicts.INTEGRITY.verdict };
};

t.test("a forged log is signed and hashed as it should be, at every width of tiles", async (t) => {
  const sound = { refused: null, signature: "PASS", integrity: "PASS" };
  for (const size of [1, 2, 255, 256, 257, 512, 700])
    t.same(await verdictsOf(forged(size)), sound, `${size}`);
  const line = { timeS: 1_790_000_000n, form: "sound" } as const;
  const both = forged(3, {
    note: {
      ...HONEST,
      lines: [
        { ...line, key: "ed25519" },
        { ...line, key: "mlDsa" },
        { ...line, key: "p256" },
      ],
    },
    policy: [
      { key: "ed25519", as: "log" },
      { key: "mlDsa", as: "log" },
      { key: "p256", as: "log" },
      "quorum none",
    ],
  });
  t.same(await verdictsOf(both), sound, "by each kind of key");
  t.match(await verdictsOf({ ...both, note: HONEST }), { signature: "FAIL" });
  t.match(
    await verdictsOf(forged(3, { note: { ...HONEST, root: Buffer.alloc(32).toString("base64") } })),
    { integrity: "FAIL" },
  );
});

t.test("the proof of a forged entry holds", async (t) => {
  const forge = new Forge(keys, new Dice(1));
  const log = forged(300);
  for (const index of [0, 1, 255, 256, 299]) {
    const proof = forge.proof({
      origin: ORIGIN,
      leaves: log.leaves,
      index: String(index),
      note: HONEST,
      dropped: 0,
      added: 0,
    });
    const { code } = await judged(inputOf(proof, forge.policy(log)));
    t.equal(code, 0, `${index}`);
  }
});

function samplesOf(log: ForgedLog): Samples {
  const { file, policy } = new Forge(keys, new Dice(1)).input(log);
  const proof = new Forge(keys, new Dice(1)).proof({
    ...{ origin: ORIGIN, leaves: log.leaves, index: "1" },
    note: HONEST,
    dropped: 0,
    added: 0,
  });
  const named = ["few entries", "values opened", "witnessed"].map((name) => ({
    name,
    bundle: file,
    policy: policy!,
  }));
  return {
    exports: named,
    proofs: [{ name: "proof", proof, policy: policy! }],
    known: [Buffer.from("x")],
    leaves: [leavesOf(file)],
    ring,
  };
}

t.test("an input is decided by samples, seed and path; another number gives another", async (t) => {
  const samples = samplesOf(forged(12));
  const [one, other] = [new InputMaker(samples, 7), new InputMaker(samples, 7)];
  for (let number = 0; number < 60; number++) {
    const path = number % 3 === 0 ? [number] : [number, number + 100];
    const { input, made } = one.at(path);
    // Signatures of some kinds of keys draw numbers of their own.
    if (made.kind.startsWith("forged"))
      t.equal(other.at(path).input.file.length > 0, input.file.length > 0);
    else t.same(other.at(path).input, input, made.kind);
  }
  const files = new Set(
    Array.from({ length: 60 }, (_, number) => one.at([number]).input.file.toString("base64")),
  );
  t.ok(files.size > 40);
});

t.test("members come apart and together again, and hostile sizes lead nowhere", async (t) => {
  const { file } = new Forge(keys, new Dice(1)).input(forged(300));
  const { members, rest } = takenApart(file);
  t.ok(putTogether(members, rest).equals(file));
  t.same(members.map(nameOf), [
    "checkpoint",
    "tile/entries/000",
    "tile/0/000",
    "tile/entries/001.p/44",
    "tile/0/001.p/44",
    "tile/1/000.p/1",
  ]);
  for (const size of ["-0000001000", "77777777777", "99999999999"]) {
    const { header, content } = member("checkpoint", Buffer.from("x"));
    header.write(size, 124, "latin1");
    t.equal(takenApart(putTogether([{ header, content }])).members.length, 0, size);
  }
});

t.test("what was never signed may not pass, and what no signature covers may", async (t) => {
  const log = forged(12, { disclosures: new Map([[0, Buffer.from("a line\n")]]) });
  const samples = samplesOf(log);
  const honest = new HonestContent(samples);
  const [{ bundle, policy }] = samples.exports as [Samples["exports"][0]];
  const objection = (file: Buffer, under = policy) => honest.objection(inputOf(file, under));
  const without = (name: string) =>
    putTogether(takenApart(bundle).members.filter((one) => !nameOf(one).startsWith(name)));
  const changed = (name: string, change: (content: Buffer) => Buffer) =>
    putTogether(
      takenApart(bundle).members.map((one) =>
        nameOf(one).startsWith(name) ? member(nameOf(one), change(one.content)) : one,
      ),
    );
  t.equal(objection(bundle), null);
  t.equal(objection(without("disclosures/")), null, "disclosures that are left out");
  t.equal(
    objection(
      changed("checkpoint", (note) => Buffer.concat([note, Buffer.from("— stranger AAAAAAAA\n")])),
    ),
    null,
  );
  t.match(
    objection(
      changed("checkpoint", (note) => Buffer.from(note.toString().replace("\n12\n", "\n11\n"))),
    ),
    /never signed/,
  );
  t.match(
    objection(
      changed("tile/entries", (content) =>
        Buffer.from(content.toString("latin1").replace("audit.stop", "audit.stoq"), "latin1"),
      ),
    ),
    /another tile/,
  );
  t.match(objection(without("tile/0")), /1 of 2 files/);
  t.match(
    objection(changed("disclosures", () => Buffer.from("another line\n"))),
    /another disclosures/,
  );
  t.equal(
    objection(
      changed("tile/0", () => Buffer.alloc(32)),
      Buffer.from("another policy"),
    ),
    null,
    "which is no matter of this log",
  );
  const [{ proof }] = samples.proofs as [Samples["proofs"][0]];
  t.equal(objection(proof), null);
  t.match(
    objection(Buffer.from(proof.toString().replace("\nindex 1\n", "\nindex 2\n"))),
    /another entry/,
  );
});

t.test("what no release holds may not pass beside them", async (t) => {
  const starts = startsOf(
    [...startsOfVersion(0), ...startsOfVersion(1)]
      .map(({ files, image }) =>
        JSON.stringify({
          type: "admin.measured",
          prod: "supervisor",
          detail: { files },
          digests: { image },
        }),
      )
      .concat(forged(2).leaves.map(String)),
  );
  t.equal(releaseObjection(starts, [release(0), release(1)]), null);
  t.equal(releaseObjection(starts, []), null);
  t.match(releaseObjection(starts, [release(1)]), /do not hold/);
  t.match(
    releaseObjection(
      [{ files: starts.flatMap(({ files }) => files), image: null }],
      [release(0), release(1)],
    ),
    /do not hold/,
  );
  t.match(releaseObjection([], [release(0)]), /no start/);
});

t.test("an answer that holds no number, or a text that could mislead, is told", async (t) => {
  const { file, policy } = new Forge(keys, new Dice(1)).input(forged(3));
  const answer = await judged(inputOf(file, policy));
  t.equal(faultOf(answer), null);
  t.match(faultOf({ ...answer, code: 128 }), /exit code/);
  t.match(faultOf({ ...answer, text: "a\u202eb\n" }), /mislead/);
  const report = { ...answer.report!, bundleBytes: Number.NaN } as NonNullable<
    typeof answer.report
  >;
  t.match(faultOf({ ...answer, report }), /number/);
});
