/** The manifest as it lies on the target, signed by the appliance. */
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";
import { openEnvelope, sealEnvelope } from "./envelope.ts";
import { FORMAT, Manifest } from "./manifest.ts";

const PAYLOAD_TYPE = "application/vnd.resontech.backup+json";
export const MAX_MANIFEST_BYTES = 262_144;

const manifestForm = Compile(Manifest);

export function signManifest(manifest: Manifest, signingKeyPem: string): Buffer {
  return sealEnvelope(PAYLOAD_TYPE, Buffer.from(JSON.stringify(manifest)), signingKeyPem);
}

/**
 * @param signer who must have signed it
 * @throws BackupError `backup_forged`, `backup_format`, `backup_damaged`
 */
export function openManifest(bytes: Buffer, signer: string, name: string): Manifest {
  const payload = openEnvelope(PAYLOAD_TYPE, bytes, signer, name);
  const manifest: unknown = JSON.parse(payload.toString("utf8"));
  if (manifestForm.Check(manifest)) return manifest;
  throw new BackupError("backup_format", `${name} is not of the format ${FORMAT}`);
}
