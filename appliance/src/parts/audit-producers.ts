/** Each producer's socket of auditd: who may open one is decided by its folder's group. `supervisor` and `appliance`, this command, are root. */
import { uidOf } from "@resontech/frame/layout";
import type { PartContext } from "./context.ts";
import type { PartUser } from "./process-part.ts";

const UNDECLARED: Readonly<
  Record<string, { family: string; user: PartUser; isOccasional?: boolean }>
> = {
  "coordinator-gate": { family: "coordinator", user: "coordinator" },
  "coordinator-record": { family: "coordinator", user: "coordinator" },
  "audit-out": { family: "audit-out", user: "auditOut" },
  vault: { family: "vault", user: "vault" },
  supervisor: { family: "supervisor", user: "root" },
  appliance: { family: "appliance", user: "root", isOccasional: true },
};

/** @property gid of who may open its socket */
export type ProducerSocket = { name: string; family: string; gid: number; isOccasional: boolean };

export function auditProducers({
  config,
  parts,
}: Pick<PartContext, "config" | "parts">): ProducerSocket[] {
  const gidOf = (user: PartUser): number => {
    if (user === "root") return 0;
    return typeof user === "number" ? config.uidBase + user : uidOf(config, user);
  };
  return [
    ...Object.entries(UNDECLARED).map(([name, { family, user, isOccasional = false }]) => ({
      ...{ name, family, gid: gidOf(user), isOccasional },
    })),
    ...parts.flatMap(({ name, user, audit }) =>
      audit === undefined
        ? []
        : [{ ...{ name, family: audit.family, gid: gidOf(user), isOccasional: false } }],
    ),
  ];
}
