/** `etc/audit-keys.json`, root's own: where the keys of log and vault are made and kept. Without it they are plain files. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Pkcs11Token } from "@resontech/contracts/pkcs11-token";
import type { Tpm } from "@resontech/contracts/tpm";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import type { Layout } from "@resontech/frame/layout";

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

/** Null where there is none; auditd and vault check what stands in it. */
export function readAuditKeys({ etc }: Layout): AuditKeys | null {
  const file = join(etc, "audit-keys.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as AuditKeys) : null;
}

/** Where auditd makes and keeps the log's keys. */
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
