/** Which operations an auditor asks about because they went another way than the rule. Pure. */
import type { Operation } from "../operations/operation.ts";

export const EXCEPTIONS = {
  refused: "somebody asked for something and did not get it",
  emergency: "a role, a key or a request by one person alone, or by the host's root",
  unwitnessed: "done before a witness had countersigned it, or while witnesses lagged",
  restored: "the log, the appliance or keys were put back from a copy",
  lost: "entries were cut, refused or are not borne out",
  clock: "the clock was moved, or somebody vouched for it",
} as const;
export type ExceptionKind = keyof typeof EXCEPTIONS;

/** Types of which each entry is one. */
const BY_TYPE: Readonly<Partial<Record<Operation["type"], ExceptionKind>>> = {
  "key.bootstrap": "emergency",
  "privacy.keys.restore": "restored",
  "audit.wal.cut": "lost",
  "audit.rejected": "lost",
  "audit.lost": "lost",
  "admin.clock.step": "clock",
  "audit.clock.vouched": "clock",
};

export function exceptionsOf(operation: Operation): ExceptionKind[] {
  const { type, detail, approval, isRefused, isUnwitnessed } = operation;
  const ofType = BY_TYPE[type];
  const isEmergency =
    detail["single_person"] === true ||
    (type === "iam.role.change" && approval === "") ||
    (type === "iam.user.create" && (detail["admin"] === true || detail["duty"] !== undefined));
  const isRestored =
    (type === "audit.shard.open" && detail["reason"] === "restore") ||
    (type === "admin.backup" && detail["change"] === "put-back");
  return [
    ...(ofType === undefined ? [] : [ofType]),
    ...(isRefused ? (["refused"] as const) : []),
    ...(isEmergency ? (["emergency"] as const) : []),
    ...(isUnwitnessed || type === "audit.witness.lag" ? (["unwitnessed"] as const) : []),
    ...(isRestored ? (["restored"] as const) : []),
  ];
}
