/** Every part that is declared: one line each. */
import { UID_OFFSETS } from "@resontech/contracts/appliance-config";
import { SUPERVISOR_DATA_BYTES } from "@resontech/contracts/room-account";
import { auditOut } from "@resontech/audit-out/part";
import { auditdFor } from "@resontech/auditd/part";
import { coordinator } from "@resontech/coordinator/part";
import { door } from "@resontech/door/part";
import { follower } from "@resontech/follower/part";
import { dataFoldersOf, type PartDeclaration } from "@resontech/frame/define-part";
import { SUPERVISOR_FOLDERS } from "@resontech/frame/layout";
import { inferenceGateway } from "@resontech/inference-gateway/part";
import { keycloak } from "@resontech/keycloak/part";
import { nats } from "@resontech/nats/part";
import { notifier } from "@resontech/notifier/part";
import { postgres } from "@resontech/postgres/part";
import { prometheus } from "@resontech/prometheus/part";
import { registry } from "@resontech/registry/part";
import { s3 } from "@resontech/s3/part";
import { s3Front } from "@resontech/s3-front/part";
import { vault } from "@resontech/vault/part";
import { NODE_PARTS } from "./node-parts.ts";

const PRODUCERS_AND_OTHERS: readonly PartDeclaration[] = [
  door,
  nats,
  s3,
  registry,
  auditOut,
  vault,
  coordinator,
  postgres,
  keycloak,
  s3Front,
  prometheus,
  inferenceGateway,
  notifier,
];

/** In no order of need: health decides. */
export const PARTS: readonly PartDeclaration[] = [
  auditdFor(PRODUCERS_AND_OTHERS),
  ...PRODUCERS_AND_OTHERS,
  follower,
  ...NODE_PARTS,
];

/** Of every process of an appliance that is not root's: it runs as uid and gid `uidBase + n`. */
export function userOffsets(): number[] {
  return [
    ...Object.values(UID_OFFSETS),
    ...PARTS.flatMap(({ user }) => (user === "root" ? [] : [user])),
  ];
}

/** Below `data`: the uninstall takes these, and a disk of the operator may be mounted on each. */
export function dataFolders(): string[] {
  const declared = PARTS.flatMap((part) => dataFoldersOf(part).map(({ name }) => name));
  return [...SUPERVISOR_FOLDERS, ...declared.filter((name) => !name.includes("/"))];
}

/** What all processes of an appliance take of the disk within its first weeks, without its release. */
export function firstDataBytes(parts = PARTS): number {
  return parts.reduce((sum, { firstBytes }) => sum + firstBytes, SUPERVISOR_DATA_BYTES);
}
