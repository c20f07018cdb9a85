import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import t from "tap";
import { openTrustedCheckpoint } from "../../src/follow/trusted-checkpoint.ts";
import { parsePolicy } from "@resontech/audit/format/note/policy";

const ORIGIN = "box.audit.acme/2026";
const ED25519 = 0x01;
const ML_DSA_44 = 0x06;
const root = createHash("sha256").update("a root").digest();
const text = (size: number): string => `${ORIGIN}\n${size}\n${root.toString("base64")}\n`;

type Key = { type: number; privateKey: KeyObject; verifierKey: string; keyId: Buffer };

function keyOf(
  type: number,
  keys: { privateKey: KeyObject; publicKey: KeyObject },
  name = ORIGIN,
): Key {
  const spki = keys.publicKey.export({ format: "der", type: "spki" });
  const bytes = Buffer.concat([Buffer.from([type]), spki.subarray(type === ED25519 ? -32 : -1312)]);
  const keyId = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  return {
    type,
    privateKey: keys.privateKey,
    keyId,
    verifierKey: `${name}+${keyId.toString("hex")}+${bytes.toString("base64")}`,
  };
}

const ed25519 = keyOf(ED25519, generateKeyPairSync("ed25519"));
const mlDsa = keyOf(ML_DSA_44, generateKeyPairSync("ml-dsa-44"));

function line({ keyId }: Key, signature: Buffer, name = ORIGIN): string {
  return `— ${name} ${Buffer.concat([keyId, signature]).toString("base64")}\n`;
}

const signedByEd25519 = (size: number): string =>
  line(ed25519, sign(null, Buffer.from(text(size), "utf8"), ed25519.privateKey));

/** `cosigned_message` of C2SP tlog-cosignature, written out from its text. */
function signedByMlDsa(size: number, timeS = 1_772_323_200n): string {
  const u64 = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(value);
    return bytes;
  };
  const name = Buffer.concat([Buffer.from([ORIGIN.length]), Buffer.from(ORIGIN)]);
  const message = Buffer.concat([
    Buffer.from("subtree/v1\n\0"),
    name,
    u64(timeS),
    name,
    u64(0n),
    u64(BigInt(size)),
    root,
  ]);
  return line(mlDsa, Buffer.concat([u64(timeS), sign(null, message, mlDsa.privateKey)]));
}

const logKeysOf = (policy: string) => parsePolicy(Buffer.from(policy)).logs;
const policyOf = (...keys: Key[]) =>
  logKeysOf(
    `# ours\n${keys.map(({ verifierKey }) => `log ${verifierKey}\n`).join("")}quorum none\n`,
  );
const open = (note: string, keys = policyOf(ed25519, mlDsa)) =>
  openTrustedCheckpoint(Buffer.from(note, "utf8"), ORIGIN, keys);
const refused = { code: "checkpoint_refused" };

t.test("where the policy lists two keys both must have signed this very tree", async (t) => {
  const both = `${text(5)}\n${signedByEd25519(5)}${signedByMlDsa(5)}`;
  t.match(open(both), { origin: ORIGIN, size: 5, root, note: both });
  t.match(
    open(`${text(5)}\n${signedByMlDsa(5)}— witness.example AAAAAAAAAAAA\n${signedByEd25519(5)}`),
    { size: 5 },
    "others may sign, too",
  );
  t.throws(() => open(`${text(5)}\n${signedByEd25519(5)}`), refused);
  t.throws(() => open(`${text(5)}\n${signedByMlDsa(5)}`), refused);
  t.throws(() => open(`${text(5)}\n${signedByEd25519(5)}${signedByMlDsa(6)}`), refused);
  t.throws(() => open(`${text(6)}\n${signedByEd25519(5)}${signedByMlDsa(6)}`), refused);
  t.match(open(`${text(5)}\n${signedByEd25519(5)}`, policyOf(ed25519)), { size: 5 });
  t.throws(
    () => open(both.replace(/— \S+ [A-Za-z0-9+/]{8}/, "$&AAAA")),
    refused,
    "a signature with other bytes",
  );
});

t.test("what is no checkpoint of this log is refused", async (t) => {
  const keys = policyOf(ed25519);
  const good = `${text(5)}\n${signedByEd25519(5)}`;
  for (const [what, note] of [
    ["nothing", ""],
    ["no signature", `${text(5)}\n`],
    ["another origin", good.replaceAll(ORIGIN, "box.audit.acme/2027")],
    ["a fourth line", `${text(5)}extension\n\n${signedByEd25519(5)}`],
    ["a size with a zero before it", good.replace("\n5\n", "\n05\n")],
    ["a size above 2^53", good.replace("\n5\n", "\n9999999999999999\n")],
    ["no end of line", good.slice(0, -1)],
    ["more lines than anybody has", `${good}${"— w AAAAAAAAAAAA\n".repeat(64)}`],
    ["more than 64 KiB", `${good}— ${"w".repeat(70_000)} AAAAAAAA\n`],
  ] as const)
    t.throws(() => open(note, keys), refused, what);
  t.throws(() => openTrustedCheckpoint(Buffer.from(good), "box.audit.acme/2027", keys), refused);
});
