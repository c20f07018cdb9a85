/** A text that the appliance signed: a DSSE envelope (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md). */
import { sign, verify } from "node:crypto";
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
 * @throws BackupError `backup_forged`, `backup_damaged`
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
  const key = signerKey(signer);
  const isSigned = signed.signatures.some(({ sig }) =>
    verify(null, preAuthentication(payloadType, payload), key, Buffer.from(sig, "base64")),
  );
  if (isSigned) return payload;
  throw new BackupError("backup_forged", `${name} is not signed by the key ${signer}`);
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
