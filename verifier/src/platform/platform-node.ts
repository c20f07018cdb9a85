import * as crypto from "node:crypto";
import { fromLatin1 } from "../input/bytes.ts";
import { verifyMlDsa44 } from "./ml-dsa-44.ts";
import type { Platform, SignatureAlgorithm } from "./platform.ts";

/** DER of SubjectPublicKeyInfo up to the key (RFC 8410, RFC 9881); an ECDSA key is the whole of it. */
const SPKI_PREFIX: Readonly<Record<SignatureAlgorithm, string>> = {
  ed25519: "302a300506032b6570032100",
  "ml-dsa-44": "30820532300b06096086480165030403110382052100",
  "ecdsa-p256": "",
};

/** One call instead of three where the runtime has it (Node 20.12 and later); it gives a text in half the time that a buffer of its own takes. */
const digestText: (bytes: Uint8Array) => string =
  typeof crypto.hash === "function"
    ? (bytes) => crypto.hash("sha256", bytes, "latin1")
    : (bytes) => crypto.createHash("sha256").update(bytes).digest("latin1");

export const nodePlatform: Platform = {
  sha256: (bytes) => fromLatin1(digestText(bytes)),
  sha256Into: (bytes, into, at) => {
    const text = digestText(bytes);
    for (let byte = 0; byte < text.length; byte++) into[at + byte] = text.charCodeAt(byte);
  },
  verify: async (algorithm, publicKey, message, signature) => {
    let key: crypto.KeyObject;
    try {
      const der = Buffer.concat([Buffer.from(SPKI_PREFIX[algorithm], "hex"), publicKey]);
      key = crypto.createPublicKey({ key: der, format: "der", type: "spki" });
    } catch {
      // A key of an algorithm that the runtime knows, and that can't be read, verifies nothing: neither here nor there.
      return algorithm === "ml-dsa-44" && verifyMlDsa44(publicKey, message, signature);
    }
    return crypto.verify(algorithm === "ecdsa-p256" ? "sha256" : null, message, key, signature);
  },
};
