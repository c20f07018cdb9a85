import { generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { ustarMember } from "@resontech/audit/export/ustar";
import { encodeEntries } from "@resontech/audit/format/tree/entry-bundle";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";

import { KEY_TYPE, noteSigner, verifierKey } from "@resontech/audit/format/note/note-key";
import { composeEvent } from "@resontech/audit/producer";
import { parseCheckpoint as parse } from "../src/input/note.ts";
import { nodePlatform } from "../src/platform/platform-node.ts";
import { parsePolicy as parsePolicyOn } from "../src/signatures/policy.ts";
import { escapeText, renderText } from "../src/report/output.ts";
import { exitCode, nothingChecked } from "../src/verdicts.ts";
import { type Report, verify } from "../src/verify.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { signedCheckpoint } from "@resontech/audit/testing/signed-checkpoint";

const ORIGIN = "box.audit.acme/2026";
const newKey = (name: string) =>
  noteSigner(name, KEY_TYPE.ed25519, generateKeyPairSync("ed25519").privateKey);
const newMlDsaKey = (name: string) =>
  noteSigner(name, KEY_TYPE.mlDsa44, generateKeyPairSync("ml-dsa-44").privateKey);
const signer = newKey(ORIGIN);
const POLICY = Buffer.from(`log ${verifierKey(signer)}\nquorum none\n`);

/** A leaf as auditd makes it, with changes that auditd would refuse. */
function leaf(pseq: number, changes: Record<string, unknown> = {}): Buffer {
  const sent = JSON.parse(composeEvent({ ...keyList(), phase: "fact" }, { boot: "b", pseq }).event);
  const event = { ...sent, prod: "p", t_log: "2026-01-01T00:00:00.000Z", ...changes };
  return Buffer.from(
    JSON.stringify(Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)))),
  );
}

/** An export of these leaves, soundly signed: only the leaves can be wrong. */
function signedExport(leaves: readonly Buffer[]): Buffer {
  const frontier = new Frontier();
  for (const one of leaves) frontier.append(hashLeaf(one));
  return exportOf(
    signedCheckpoint({ origin: ORIGIN, size: leaves.length, root: frontier.root() }, [signer]),
    leaves,
  );
}

function exportOf(note: string, leaves: readonly Buffer[]): Buffer {
  return Buffer.concat([
    ustarMember("checkpoint", Buffer.from(note)),
    ustarMember(`tile/entries/000.p/${leaves.length}`, encodeEntries(leaves)),
    ustarMember(`tile/0/000.p/${leaves.length}`, Buffer.concat(leaves.map(hashLeaf))),
    Buffer.alloc(1_024),
  ]);
}

async function* inChunks(bytes: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

const judge = (bytes: Buffer, policy: Buffer | null = POLICY): Promise<Report> =>
  verify({ bundle: inChunks(bytes), policy, platform: nodePlatform });
const parsePolicy = (bytes: Buffer) => parsePolicyOn(bytes, nodePlatform);
const parseCheckpoint = (bytes: Buffer) => parse(bytes, "the checkpoint");

t.test(
  "leaves that are signed and yet no leaves of this log fail INTEGRITY, with their index",
  async (t) => {
    t.match((await judge(signedExport([leaf(1), leaf(2), leaf(3)]))).verdicts, {
      SIGNATURE: { verdict: "PASS" },
      INTEGRITY: { verdict: "PASS" },
    });
    const sound = leaf(2).toString();
    const wrong: [string, Buffer][] = [
      ["space", Buffer.from(sound.replace('{"actor"', '{ "actor"'))],
      ["duplicate", Buffer.from(sound.replace('"v":1}', '"v":1,"v":1}'))],
      ["float", Buffer.from(sound.replace('"v":1}', '"v":1.0}'))],
      ["unknown member", leaf(2, { zeal: 1 })],
      ["missing member", leaf(2, { actor: undefined })],
      ["wrong type", leaf(2, { type: "game.over" })],
      ["wrong pseq", leaf(2, { pseq: 0 })],
      ["time goes back", leaf(2, { t_log: "2025-12-31T23:59:59.999Z" })],
      ["no such time", leaf(2, { t_log: "2026-99-99T99:99:99.999Z" })],
      ["no such day", leaf(2, { t_log: "2026-02-30T00:00:00.000Z" })],
      ["no such hour", leaf(2, { t_log: "2026-02-01T24:00:00.000Z" })],
      ["too long", leaf(2, { action: "a".repeat(17_000) })],
      [
        "no UTF-8",
        Buffer.concat([Buffer.from(sound.slice(0, -1)), Buffer.from([0xff]), Buffer.from("}")]),
      ],
      ["no object", Buffer.from("[]")],
      ["nothing", Buffer.alloc(0)],
    ];
    for (const [what, bytes] of wrong) {
      const report = await judge(signedExport([leaf(1), bytes, leaf(3)]));
      t.match(report.verdicts.INTEGRITY, { verdict: "FAIL", index: 1 }, what);
      t.not(exitCode(report.verdicts, report.refused !== null, []), 0, what);
    }
  },
);

t.test("no change of any byte passes, and none brings the verifier down", async (t) => {
  const sound = signedExport([leaf(1), leaf(2)]);
  await t.resolves(
    fc.assert(
      fc.asyncProperty(
        fc.nat(sound.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.constantFrom("change", "cut", "insert", "repeat"),
        async (at, by, how) => {
          const copy = Buffer.from(sound);
          copy[at]! ^= by;
          const bytes = {
            change: copy,
            cut: sound.subarray(0, at),
            insert: Buffer.concat([sound.subarray(0, at), Buffer.from([by]), sound.subarray(at)]),
            repeat: Buffer.concat([sound, sound.subarray(0, at + 1)]),
          }[how];
          const report = await judge(bytes);
          if (exitCode(report.verdicts, report.refused !== null, []) === 0)
            throw new Error(`${how} at ${at} passes`);
        },
      ),
      { numRuns: 1_500 },
    ),
  );
});

t.test("an export that comes byte by byte is judged as one that comes at once", async (t) => {
  const leaves = Array.from({ length: 40 }, (_, at) =>
    leaf(at + 1, { action: "a".repeat(15_000) }),
  );
  const bytes = signedExport(leaves);
  const options = { policy: POLICY, platform: nodePlatform };
  const atOnce = await verify({ bundle: inChunks(bytes, bytes.length), ...options });
  t.same(await verify({ bundle: inChunks(bytes, 1), ...options }), atOnce);
  t.match(atOnce, { refused: null, entriesRead: 40 });
});

t.test("an export that is refused is closed, as one that is read to its end", async (t) => {
  const sound = signedExport([leaf(1)]);
  for (const bytes of [sound, sound.subarray(0, 700), Buffer.alloc(5_000, 1)]) {
    let isClosed = false;
    const bundle = (async function* () {
      try {
        yield* inChunks(bytes);
      } finally {
        isClosed = true;
      }
    })();
    await verify({ bundle, policy: POLICY, platform: nodePlatform });
    t.ok(isClosed);
  }
});

t.test("keys come from the policy alone", async (t) => {
  const bytes = signedExport([leaf(1)]);
  const stranger = newKey(ORIGIN);
  const other = newKey("other.audit.acme/2026");
  const policyOf = (...keys: string[]) =>
    Buffer.from(`${keys.map((key) => `log ${key}\n`).join("")}quorum none\n`);
  t.match((await judge(bytes, policyOf(verifierKey(stranger)))).verdicts.SIGNATURE, {
    verdict: "FAIL",
    reason: /lacks the signature/,
  });
  t.match((await judge(bytes, policyOf(verifierKey(other)))).verdicts.SIGNATURE, {
    verdict: "FAIL",
    reason: /no key for the checkpoint's origin/,
  });
  t.match(
    (await judge(bytes, policyOf(verifierKey(signer), verifierKey(stranger)))).verdicts.SIGNATURE,
    { verdict: "FAIL" },
    "every key of the origin must sign",
  );
  t.match(
    (await judge(bytes, policyOf(verifierKey(other), verifierKey(signer)))).verdicts.SIGNATURE,
    { verdict: "PASS" },
  );
  const alone = await judge(bytes, null);
  t.match(alone.verdicts, {
    SIGNATURE: { verdict: "SELF-ASSERTED" },
    WITNESSED: { verdict: "SELF-ASSERTED" },
    INTEGRITY: { verdict: "PASS" },
  });
  const { SIGNATURE, INTEGRITY, WITNESSED } = alone.verdicts;
  t.equal(exitCode({ ...nothingChecked(""), SIGNATURE, INTEGRITY, WITNESSED }, false, []), 65);
});

t.test(
  "an ML-DSA-44 key that the policy lists must have signed as well, over this very size, root and time",
  async (t) => {
    const mlDsa = newMlDsaKey(ORIGIN);
    const only = leaf(1);
    const checkpoint = { origin: ORIGIN, size: 1, root: hashLeaf(only) };
    const policy = Buffer.from(
      `log ${verifierKey(signer)}\nlog ${verifierKey(mlDsa)}\nquorum none\n`,
    );
    const verdictOf = async (note: string) =>
      (await judge(exportOf(note, [only]), policy)).verdicts.SIGNATURE;
    const note = signedCheckpoint(checkpoint, [signer, mlDsa], 1_800_000_000_000);
    t.match(await verdictOf(note), { verdict: "PASS" });
    t.match(await verdictOf(signedCheckpoint(checkpoint, [signer])), {
      verdict: "FAIL",
      reason: /lacks the signature/,
    });
    const lines = note.split("\n");
    const signature = Buffer.from(lines[5]!.split(" ")[2]!, "base64");
    for (const at of [4, 11, 12, signature.length - 1]) {
      const flipped = Buffer.from(signature);
      flipped[at]! ^= 1;
      const line = `— ${ORIGIN} ${flipped.toString("base64")}`;
      t.match(
        await verdictOf([...lines.slice(0, 5), line, ""].join("\n")),
        { verdict: "FAIL", reason: /does not verify/ },
        `byte ${at}`,
      );
    }
  },
);

t.test("refuses policies and checkpoints that the formats do not allow", async (t) => {
  const key = verifierKey(signer);
  for (const [what, text] of [
    ["no quorum", `log ${key}\n`],
    ["two quorums", `log ${key}\nquorum none\nquorum none\n`],
    ["unknown quorum", `log ${key}\nquorum w1\n`],
    ["unknown keyword", `log ${key}\nlogs x\nquorum none\n`],
    ["key twice", `log ${key}\nlog ${key}\nquorum none\n`],
    ["foreign hash", `log ${key.replace(/\+[0-9a-f]{8}\+/, "+00000000+")}\nquorum none\n`],
    ["no key", "log abc\nquorum none\n"],
    ["witness named none", `witness none ${key}\nquorum none\n`],
    ["unknown member", `log ${key}\ngroup g any w\nquorum none\n`],
    ["control character", `log ${key}\u0007\nquorum none\n`],
    [
      "33 logs",
      `${Array.from({ length: 33 }, () => `log ${verifierKey(newKey(ORIGIN))}\n`).join("")}quorum none\n`,
    ],
  ] as const)
    t.throws(() => parsePolicy(Buffer.from(text)), { name: "Refused" }, what);
  t.match(
    parsePolicy(
      Buffer.from(
        `# comment\n\n\tlog  ${key}  https://x \n witness w1 ${key}\ngroup g all w1\nquorum g\n`,
      ),
    ),
    {
      logs: [{ name: ORIGIN }],
      quorum: "g",
    },
  );
  const note = signedCheckpoint({ origin: ORIGIN, size: 5, root: Buffer.alloc(32) }, [signer]);
  t.match(parseCheckpoint(Buffer.from(note)), {
    origin: ORIGIN,
    size: 5,
    signatures: [{ name: ORIGIN }],
  });
  for (const [what, text] of [
    ["leading zero", note.replace("\n5\n", "\n05\n")],
    ["negative", note.replace("\n5\n", "\n-5\n")],
    ["beyond 2^53-1", note.replace("\n5\n", "\n9007199254740992\n")],
    ["extension line", note.replace("=\n\n", "=\nmore\n\n")],
    ["no signature", note.slice(0, note.indexOf("—"))],
    ["carriage return", note.replaceAll("\n", "\r\n")],
    ["short root", note.replace(Buffer.alloc(32).toString("base64"), "AAAA")],
    ["loose base64", note.replace("AAAA=", "AAAB=")],
    ["long origin", note.replaceAll(ORIGIN, "o".repeat(256))],
    ["65 signatures", note + note.slice(note.indexOf("—")).repeat(64)],
    ["64 KiB", note + "x".repeat(65_536)],
  ] as const)
    t.throws(() => parseCheckpoint(Buffer.from(text)), { name: "Refused" }, what);
  const sixteen = note + "— other AAAAAAAA\n".repeat(15);
  t.equal(
    parseCheckpoint(Buffer.from(sixteen)).signatures.length,
    16,
    "signatures of strangers are no hindrance",
  );
});

t.test("shows nothing of the input as it is that could mislead an eye", async (t) => {
  t.equal(
    escapeText("a\u001b[2Jb\u202ec\u200bd\ud800e\nf"),
    "a\\u{1b}[2Jb\\u{202e}c\\u{200b}d\\u{d800}e\\u{a}f",
  );
  const origin = "evil\u202e\u200b";
  const text = Buffer.from(`${origin}\n0\n${Buffer.alloc(32).toString("base64")}\n`);
  const note = `${text.toString()}\n— x ${Buffer.concat([Buffer.alloc(4), sign(null, text, signer.privateKey)]).toString("base64")}\n`;
  const report = await judge(
    Buffer.concat([ustarMember("checkpoint", Buffer.from(note)), Buffer.alloc(1_024)]),
  );
  const shown = renderText(report);
  t.notMatch(shown, /[\u202e\u200b]/);
  t.match(shown, /evil\\u\{202e\}\\u\{200b\}/);
});
