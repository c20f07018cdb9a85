/** `<root>/etc/auditd.json` (0400, rt-audit): written by appliance/, read and validated by auditd. Paths are absolute. */
import { type Static, Type } from "typebox";
import { Pkcs11Token } from "./pkcs11-token.ts";
import { Tpm } from "./tpm.ts";
import { ProducerName } from "../audit/audit-event.ts";
import { closed } from "../closed.ts";

const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

export const AuditdConfig = Type.Object(
  {
    /** `<appliance>.audit.<customer>`; the origin of a shard, also the name of its keys, is this, `/` and its slug: `2026`, `2026-2`. */
    originPrefix: Type.String({ pattern: "^[a-z0-9-]{1,63}\\.audit\\.[a-z0-9-]{1,63}$" }),
    /** The day of the install ceremony, UTC: a log is made on that day or the next, and never again. */
    inception: Type.String({ pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$" }),
    /** A folder for each shard, named by its slug, and `current`, which names the one that is written; 0750, rt-audit. Its parent must exist. */
    auditDir: Path,
    /** Private keys of each shard, PKCS#8 PEM, 0400; 0700, rt-audit. It must exist. */
    keysDir: Path,
    /**
     * A PKCS#11 token that makes and keeps the Ed25519 keys; it must have EdDSA. Absent: they are files, as those of ML-DSA-44 are. `pinFile` is
     * 0400, rt-audit.
     */
    token: Type.Optional(Pkcs11Token),
    /** New key files are sealed by the TPM to its boot registers. */
    tpm: Type.Optional(Tpm),
    /** tlog-policy for the auditor, 0444; written by `init`. */
    policyFile: Path,
    /** By whose signatures people are believed to have agreed; absent: nobody is. Root's own file. */
    stepUpKeysFile: Type.Optional(Path),
    /**
     * One socket for each producer. Its directory must exist (0750, root or rt-audit, the producer's group); auditd sets `gid` and
     * mode 0660 on the socket where it may. Producers of one `family` close each other's operations.
     */
    producers: Type.Array(
      Type.Object(
        {
          name: ProducerName,
          family: ProducerName,
          /** At most 107 bytes: the kernel's limit. */
          socket: Type.String({ pattern: "^/", minLength: 2, maxLength: 107 }),
          /** Null leaves the group as the directory gives it. */
          gid: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
          /** It connects when there is something to say; of the others heartbeats tell when they are away. @default false */
          occasional: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
      { minItems: 1, maxItems: 64 },
    ),
    /** Events that nodes sign come through this producer's socket; the root that vouches for their certificates. Absent: none are taken. */
    nodeRelay: Type.Optional(Type.Object({ producer: ProducerName, rootCertFile: Path }, closed)),
    /** The operator asks here: open a shard after a restore, vouch for the clock. Its folder is rt-audit's alone; null: none. */
    controlSocket: Type.Union([
      Type.String({ pattern: "^/", minLength: 2, maxLength: 107 }),
      Type.Null(),
    ]),
    /** There while the clock is synchronized, as systemd-timesyncd keeps one; null: only an officer vouches for it. */
    clockSyncedFile: Type.Union([Path, Type.Null()]),
    /** How long a start waits for what `audit-out` has seen of the log, before it signs. @default 5000 */
    learnMs: Type.Integer({ minimum: 0, maximum: 60_000, default: 5_000 }),
    /** An action of `AWAITS_WITNESS` that no witness saw in 5 s goes on, marked as such, or is refused. @default mark */
    unwitnessed: Type.Union([Type.Literal("mark"), Type.Literal("refuse")], { default: "mark" }),
    /** Preallocated write-ahead segment. @default 16 MiB */
    segmentBytes: Type.Integer({ minimum: 2_097_152, maximum: 1_073_741_824, default: 16_777_216 }),
    /** Space held back for audit, sign-in, export and repair; 0 where the log has a file system of its own. */
    ballastBytes: Bytes,
    /** Unit in which ballast is given up. @default 64 MiB */
    ballastStepBytes: Type.Integer({ minimum: 1_048_576, default: 67_108_864 }),
    /** Longest wait from the first uncovered leaf to its checkpoint. @default 500 */
    checkpointMs: Type.Integer({ minimum: 10, maximum: 10_000, default: 500 }),
    /** @default 60000 */
    heartbeatMs: Type.Integer({ minimum: 100, maximum: 3_600_000, default: 60_000 }),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type AuditdConfig = Static<typeof AuditdConfig>;
