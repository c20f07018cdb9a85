/**
 * The recovery key: a person keeps it on paper, and the appliance keeps its public half. The sheet also names who signs the manifests, so that a backup
 * that somebody else laid on the target is told from one of this appliance.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { IDENTITY_PREFIX, RECIPIENT_PREFIX } from "./age/age-format.ts";
import { decodeBech32, encodeBech32 } from "./age/bech32.ts";
import { KEY_BYTES, publicOf } from "./age/x25519.ts";
import { BackupError } from "./backup-error.ts";

const SIGNER_PREFIX = "rtbackup";

/** What stays on the appliance; no secret is in it. */
export type BackupKeys = {
  /** `age1…` */
  recipient: string;
  /** `rtbackup1…`: the Ed25519 key that manifests verify with. */
  signer: string;
};
/** What opens backups. */
export type RecoveryKey = { secret: Buffer; recipient: string; signer: string };

/**
 * A recovery key and a signing key that nobody has had before.
 * @returns `sheet` is shown once and kept nowhere; `signingKeyPem` is PKCS #8
 */
export function makeRecoveryKey(appliance: string): {
  keys: BackupKeys;
  signingKeyPem: string;
  sheet: string;
} {
  const secret = randomBytes(KEY_BYTES);
  const signing = generateKeyPairSync("ed25519");
  const keys = {
    recipient: encodeBech32(RECIPIENT_PREFIX, publicOf(secret)),
    signer: encodeBech32(SIGNER_PREFIX, rawPublic(signing.publicKey)),
  };
  const lines = [
    `# Recovery key of the appliance ${appliance}. Whoever has this opens its backups.`,
    encodeBech32(IDENTITY_PREFIX, secret).toUpperCase(),
    `# ${keys.signer}`,
  ];
  const signingKeyPem = signing.privateKey.export({ type: "pkcs8", format: "pem" });
  return { keys, signingKeyPem, sheet: `${lines.join("\n")}\n` };
}

/**
 * Reads what stands on the sheet, in a file or as it was typed; the file serves `age --identity` as well.
 * @throws BackupError `backup_key_invalid`
 */
export function readRecoveryKey(text: string): RecoveryKey {
  const words = text.split(/[\s#]+/);
  const only = (prefix: string): Buffer => {
    const found = words.filter((word) => word.toLowerCase().startsWith(`${prefix}1`));
    const bytes = found.length === 1 ? decodeBech32(prefix, found[0]!) : null;
    if (bytes?.length === KEY_BYTES) return bytes;
    throw new BackupError(
      "backup_key_invalid",
      found.length === 0
        ? `the recovery key lacks its part that begins with ${shown(prefix)}`
        : `the part of the recovery key that begins with ${shown(prefix)} was copied wrongly`,
    );
  };
  const secret = only(IDENTITY_PREFIX);
  return {
    secret,
    recipient: encodeBech32(RECIPIENT_PREFIX, publicOf(secret)),
    signer: encodeBech32(SIGNER_PREFIX, only(SIGNER_PREFIX)),
  };
}

/** @throws BackupError `backup_key_invalid` */
export function recipientBytes(recipient: string): Buffer {
  return decoded(RECIPIENT_PREFIX, recipient);
}

/** @throws BackupError `backup_key_invalid` */
export function signerKey(signer: string): KeyObject {
  const key = decoded(SIGNER_PREFIX, signer);
  return createPublicKey({ key, format: "raw-public", asymmetricKeyType: "ed25519" });
}

/** Whose signatures this key makes. */
export function signerOf(signingKeyPem: string): string {
  return encodeBech32(SIGNER_PREFIX, rawPublic(createPublicKey(createPrivateKey(signingKeyPem))));
}

function decoded(prefix: string, text: string): Buffer {
  const bytes = decodeBech32(prefix, text);
  if (bytes?.length === KEY_BYTES) return bytes;
  throw new BackupError("backup_key_invalid", `${text} is no ${shown(prefix)}… of 32 bytes`);
}

function rawPublic(key: KeyObject): Buffer {
  return key.export({ format: "raw-public" });
}

function shown(prefix: string): string {
  return `${prefix === IDENTITY_PREFIX ? prefix.toUpperCase() : prefix}1`;
}
