/** `<root>/etc/vault.json` (0440, root; group rt-vault): written by appliance/, read and validated by vault. Paths are absolute. */
import { type Static, Type } from "typebox";
import { Pkcs11Token } from "./pkcs11-token.ts";
import { Tpm } from "./tpm.ts";
import { closed } from "../closed.ts";

const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
/** At most 107 bytes: the kernel's limit. */
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });
const Months = Type.Integer({ minimum: 1, maximum: 1_200 });

/** How long what opens commitments is kept, by class; the room `policies` has the product's own. */
export const RetentionClasses = Type.Object(
  {
    /** Leaves of the log, by whole shards; the vault has none. */
    leavesYears: Type.Integer({ minimum: 1, maximum: 100 }),
    /** Values of people whom a pseudonym names. */
    disclosuresMonths: Months,
    /** Values of callers without a name. */
    anonymousMonths: Months,
  },
  closed,
);
export type RetentionClasses = Static<typeof RetentionClasses>;

export const VaultConfig = Type.Object(
  {
    /** `sealed.sqlite`: values under keys that lie elsewhere, so an ordinary backup may hold it; 0700, rt-vault. It must exist. */
    dataDir: Path,
    /** `keys.sqlite`; 0700, rt-vault. Never in an ordinary backup. It must exist. */
    keysDir: Path,
    /** 32 bytes, 0400: what the keys lie under. It is made where it is missing and no key lies under another one. */
    keyFile: Path,
    /**
     * The key file is sealed by the TPM to its boot registers: `keyFile` with `.tpm` behind it. One that was not sealed yet is, and the other one is
     * destroyed. Without it here a sealed file is not replaced.
     */
    tpm: Type.Optional(Tpm),
    /**
     * The key file is sealed by an AES-256 key of this label, which the token makes and keeps: `keyFile` with `.p11` behind it. For the rest as `tpm`,
     * and not beside it. `pinFile` is 0400, rt-vault.
     */
    token: Type.Optional(
      Type.Object(
        { ...Pkcs11Token.properties, keyLabel: Type.String({ minLength: 1, maxLength: 255 }) },
        closed,
      ),
    ),
    /** The epoch keys, a file each, 0700, rt-vault: better on another disk than `keysDir`. In no other backup. It must exist. */
    epochsDir: Path,
    /** Copies of the keys under an epoch key; 0700, rt-vault. It must exist. */
    backupsDir: Path,
    /** By whose signatures people are believed to have agreed; absent: nobody is. Root's own file. */
    stepUpKeysFile: Type.Optional(Path),
    /** auditd's socket of the producer `vault`. */
    auditSocket: SocketPath,
    /** The operator asks here; its folder must exist: 0750, of the group that may ask. */
    controlSocket: SocketPath,
    /** audit-out asks here for tokens of values; its folder must exist: 0750, of audit-out's group. */
    tokensSocket: SocketPath,
    retention: RetentionClasses,
    /** How often auditd is asked for what opens commitments. @default 1000 */
    pollMs: Type.Integer({ minimum: 10, maximum: 60_000, default: 1_000 }),
    /** How often the keys are copied, where they changed. @default 21600000 */
    backupMs: Type.Integer({ minimum: 100, maximum: 86_400_000, default: 21_600_000 }),
    /** How long an epoch key makes copies; then the next one does. @default 604800000, seven days */
    epochMs: Type.Integer({ minimum: 100, maximum: 1_296_000_000, default: 604_800_000 }),
    /** From an epoch key's making to its end, at most 30 days. @default 2592000000 */
    epochLifeMs: Type.Integer({ minimum: 200, maximum: 2_592_000_000, default: 2_592_000_000 }),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type VaultConfig = Static<typeof VaultConfig>;
