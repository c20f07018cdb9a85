import { createHash } from "node:crypto";
import { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { type Static, Type } from "typebox";

/** Everything that one install was asked for. It stands in the journal, so that an install that was broken off can go on by itself. */
export const InstallRequest = Type.Object(
  {
    bundle: Type.String(),
    /** The pinned public key that install.sh carries. */
    keyPem: Type.String(),
    root: Type.String(),
    /** Login of the first user, in the form that the coordinator takes. */
    username: Type.String({ pattern: "^[a-z][a-z0-9._-]{0,30}[a-z0-9]$" }),
    config: ApplianceConfig,
  },
  { additionalProperties: false },
);
export type InstallRequest = Static<typeof InstallRequest>;

/** A resume must match it: a step that was done for another configuration has not been done. */
export function digestOf({ config, username }: InstallRequest): string {
  return createHash("sha256").update(JSON.stringify({ config, username })).digest("hex");
}
