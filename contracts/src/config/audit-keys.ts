/** `etc/audit-keys.json`, root's own: where the keys of log and vault are made and kept. Without it they are plain files. */
import type { AuditdConfig } from "./auditd-config.ts";
import type { Pkcs11Token } from "./pkcs11-token.ts";
import type { Tpm } from "./tpm.ts";
import type { VaultConfig } from "./vault-config.ts";

export const AUDIT_KEYS_FILE = "audit-keys.json";

export type AuditKeys = {
  /** Of auditd. */
  token?: Pkcs11Token;
  /** Seals the vault's key file. Whoever opens a token may use every key in it: another one than auditd's, or the vault could sign the log. */
  vaultToken?: Pkcs11Token;
  /** Seals the files of both; where the vault has a token, auditd's alone. */
  tpm?: Tpm;
  /** What the tokens' modules read of the environment: SOFTHSM2_CONF, say. */
  environment?: Record<string, string>;
};

/** Auditd and vault check what stands in it. @param text of the file; null where there is none */
export function auditKeysIn(text: string | null): AuditKeys | null {
  return text === null ? null : (JSON.parse(text) as AuditKeys);
}

/** Picks what says where auditd makes and keeps the log's keys. */
export function logKeysOf({ token, tpm }: AuditKeys): Pick<AuditdConfig, "token" | "tpm"> {
  return { ...(token === undefined ? {} : { token }), ...(tpm === undefined ? {} : { tpm }) };
}

/**
 * What seals the vault's key file.
 *
 * @param keyLabel of the token's key: no other appliance's
 */
export function vaultKeyOf(
  { vaultToken, tpm }: AuditKeys,
  keyLabel: string,
): Pick<VaultConfig, "token" | "tpm"> {
  if (vaultToken !== undefined) return { token: { ...vaultToken, keyLabel } };
  return tpm === undefined ? {} : { tpm };
}
