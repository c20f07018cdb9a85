/** The manifest as it lies on the target: a DSSE envelope, signed by the appliance (https://github.com/secure-systems-lab/dsse/blob/v1.0.2/protocol.md). */
import { sign, verify } from "node:crypto";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";
import { signerKey, signerOf } from "../recovery-key.ts";
import { FORMAT, Manifest } from "./manifest.ts";

const PAYLOAD_TYPE = "application/vnd.resontech.backup+json";
export const MAX_MANIFEST_BYTES = 262_144;

const envelope = Compile(
  Type.Object({
    payloadType: Type.Literal(PAYLOAD_TYPE),
    payload: Type.String(),
    signatures: Type.Array(Type.Object({ keyid: Type.String(), sig: Type.String() }), {
      minItems: 1,
      maxItems: 4,
    }),
  }),
);
const manifestForm = Compile(Manifest);

export function signManifest(manifest: Manifest, signingKeyPem: string): Buffer {
  const payload = Buffer.from(JSON.stringify(manifest));
  const sig = sign(null, preAuthentication(payload), signingKeyPem).toString("base64");
  const signatures = [{ keyid: signerOf(signingKeyPem), sig }];
  const body = { payloadType: PAYLOAD_TYPE, payload: payload.toString("base64"), signatures };
  return Buffer.from(`${JSON.stringify(body)}\n`);
}

/**
 * @param signer who must have signed it
 * @throws BackupError `backup_forged`, `backup_format`, `backup_damaged`
 */
export function openManifest(bytes: Buffer, signer: string, name: string): Manifest {
  const signed = parsed(bytes);
  if (!envelope.Check(signed))
    throw new BackupError("backup_damaged", `${name} is no signed manifest`);
  const payload = Buffer.from(signed.payload, "base64");
  const key = signerKey(signer);
  const isSigned = signed.signatures.some(({ sig }) =>
    verify(null, preAuthentication(payload), key, Buffer.from(sig, "base64")),
  );
  if (!isSigned)
    throw new BackupError("backup_forged", `${name} is not signed by the key ${signer}`);
  const manifest = parsed(payload);
  if (manifestForm.Check(manifest)) return manifest;
  throw new BackupError("backup_format", `${name} is not of the format ${FORMAT}`);
}

function preAuthentication(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
}
