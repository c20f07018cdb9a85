/** A text that the appliance signed: a DSSE envelope (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md). */
import { type KeyObject, sign, verify } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";
import { signerKey, signerOf } from "../recovery-key.ts";

const envelope = Compile(
  Type.Object({
    payloadType: Type.String(),
    payload: Type.String(),
    signatures: Type.Array(Type.Object({ keyid: Type.String(), sig: Type.String() }), {
      minItems: 1,
      maxItems: 4,
    }),
  }),
);

type Signature = { keyid: string; sig: string };

export function sealEnvelope(payloadType: string, payload: Buffer, signingKeyPem: string): Buffer {
  const bytes = preAuthentication(payloadType, payload);
  const sig = sign(null, bytes, signingKeyPem).toString("base64");
  const signatures = [{ keyid: signerOf(signingKeyPem), sig }];
  const body = { payloadType, payload: payload.toString("base64"), signatures };
  return Buffer.from(`${JSON.stringify(body)}\n`);
}

/**
 * @param signer who must have signed it
 * @returns what was signed
 * @throws BackupError `backup_forged`, `backup_signer_other`, `backup_damaged`
 */
export function openEnvelope(
  payloadType: string,
  bytes: Buffer,
  signer: string,
  name: string,
): Buffer {
  const signed = parsed(bytes);
  if (!envelope.Check(signed) || signed.payloadType !== payloadType)
    throw new BackupError("backup_damaged", `${name} holds nothing that was signed`);
  const payload = Buffer.from(signed.payload, "base64");
  const covered = preAuthentication(payloadType, payload);
  const isBy = (key: KeyObject, { sig }: Signature): boolean =>
    verify(null, covered, key, Buffer.from(sig, "base64"));
  const key = signerKey(signer);
  if (signed.signatures.some((one) => isBy(key, one))) return payload;
  const other = signed.signatures.find((one) => {
    const named = keyNamed(one.keyid);
    return named !== null && isBy(named, one);
  });
  if (other === undefined)
    throw new BackupError("backup_forged", `${name} is not signed by the key ${signer}`);
  // Of another appliance, or of this one under another sheet: nothing tells that from a forger's own, and nothing of it is believed.
  throw new BackupError(
    "backup_signer_other",
    `${name} is whole and signed by the key ${other.keyid}; this sheet names ${signer}`,
  );
}

/** Makes the key of an id; null for what names no key. */
function keyNamed(keyid: string): KeyObject | null {
  try {
    return signerKey(keyid);
  } catch (error) {
    if (error instanceof BackupError) return null;
    throw error;
  }
}

function preAuthentication(payloadType: string, payload: Buffer): Buffer {
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
}
