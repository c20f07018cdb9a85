/** Keys and signatures of forms that no honest log has, in policies and notes that somebody made on purpose. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import t from "tap";
import { tlogProof } from "@resontech/audit/format/tree/tlog-proof";
import { KEY_TYPE, noteSigner } from "@resontech/audit/format/note/note-key";
import { verifyProof } from "../../src/event-proof.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import type { Platform } from "../../src/platform/platform.ts";
import { webPlatform } from "../../src/platform/platform-web.ts";
import { MadeLog, ORIGIN } from "../helper/made-log.ts";

/** The last millisecond that ECMAScript's time has, in seconds. */
const LAST_SECOND = 8_640_000_000_000;
const ECDSA = 0x02;
const SECONDS_IN_MS = 1_000;

t.test("a cosignature of a time that no calendar has does not verify", async (t) => {
  const log = MadeLog.begun();
  const noteAt = (timeS: number, key: typeof log.witness): string => {
    const { nowMs } = log;
    log.witness = key;
    log.nowMs = timeS * SECONDS_IN_MS;
    const note = log.checkpoint(log.leaves.length, { witnessed: true });
    log.nowMs = nowMs;
    return note;
  };
  const mlDsa = noteSigner(
    "w.example/w1",
    KEY_TYPE.mlDsa44,
    generateKeyPairSync("ml-dsa-44").privateKey,
  );
  log.keys.splice(1);
  for (const key of [log.witness, mlDsa])
    for (const [timeS, verdict] of [
      [LAST_SECOND, "PASS"],
      [LAST_SECOND + 1, "FAIL"],
      [Math.floor(Number.MAX_SAFE_INTEGER / SECONDS_IN_MS), "FAIL"],
    ] as const) {
      const note = noteAt(timeS, key);
      const policy = log.policy("w1");
      t.match(
        (await log.judge({ archive: log.archive({ note }), policy })).verdicts.WITNESSED,
        { verdict },
        `${key.type} ${timeS}`,
      );
      const proof = Buffer.from(tlogProof(log.leaves[0]!, 0, [], note));
      t.match(
        (await verifyProof(proof, policy, nodePlatform)).verdicts.WITNESSED,
        { verdict },
        `proof ${key.type} ${timeS}`,
      );
    }
});

/** Listed as the kind whose key is a whole SubjectPublicKeyInfo. */
function listedAsEcdsa(publicKey: KeyObject): { id: Buffer; line: string } {
  const spki = publicKey.export({ format: "der", type: "spki" });
  const id = createHash("sha256").update(spki).digest().subarray(0, 4);
  return {
    id,
    line: `log ${ORIGIN}+${id.toString("hex")}+${Buffer.concat([Buffer.of(ECDSA), spki]).toString("base64")}\n`,
  };
}

t.test("a key that is listed as ECDSA and is none on P-256 verifies nothing", async (t) => {
  const log = MadeLog.begun();
  const [head = ""] = log.checkpoint().split("\n\n");
  const text = Buffer.from(`${head}\n`);
  const verdictOf = async (publicKey: KeyObject, signature: Buffer, platform: Platform) => {
    const { id, line } = listedAsEcdsa(publicKey);
    const note = `${log.checkpoint()}— ${ORIGIN} ${Buffer.concat([id, signature]).toString("base64")}\n`;
    const { verdicts } = await log.judge({
      archive: log.archive({ note }),
      policy: Buffer.concat([Buffer.from(line), log.policy()]),
      platform,
    });
    return verdicts.SIGNATURE;
  };
  const pairs = {
    "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }),
    "a curve that is written out": generateKeyPairSync("ec", {
      namedCurve: "P-256",
      paramEncoding: "explicit",
    }),
    RSA: generateKeyPairSync("rsa", { modulusLength: 2_048 }),
    "RSA-PSS of another hash": generateKeyPairSync("rsa-pss", {
      modulusLength: 2_048,
      hashAlgorithm: "sha512",
    }),
    X25519: generateKeyPairSync("x25519"),
    Ed25519: generateKeyPairSync("ed25519"),
    Ed448: generateKeyPairSync("ed448"),
    "ML-DSA-65": generateKeyPairSync("ml-dsa-65"),
  };
  for (const platform of [nodePlatform, webPlatform]) {
    const sound = generateKeyPairSync("ec", { namedCurve: "P-256" });
    t.match(await verdictOf(sound.publicKey, sign("sha256", text, sound.privateKey), platform), {
      verdict: "PASS",
    });
    t.match(await verdictOf(sound.publicKey, Buffer.alloc(70, 1), platform), {
      verdict: "FAIL",
      reason: /does not verify/,
    });
    for (const [what, { publicKey, privateKey }] of Object.entries(pairs)) {
      const signature =
        what === "P-384" || what === "RSA" || what.startsWith("a curve")
          ? sign("sha256", text, privateKey)
          : Buffer.alloc(70, 1);
      t.match(
        await verdictOf(publicKey, signature, platform),
        { verdict: "FAIL", reason: /does not verify/ },
        what,
      );
    }
  }
});
