/** The machine's TPM, which seals key files to the boot: part of the configurations of auditd and vault. */
import { type Static, Type } from "typebox";

/**
 * `device`: `auto`, a path, or `driver:options` as systemd knows them; the user that seals must be able to open it. `pcrs`: the boot registers that must
 * stand as they stood.
 */
export const Tpm = Type.Object(
  {
    device: Type.String({ pattern: "^[A-Za-z0-9/:=,._-]{1,200}$", default: "auto" }),
    pcrs: Type.Array(Type.Integer({ minimum: 0, maximum: 23 }), {
      minItems: 1,
      maxItems: 24,
      uniqueItems: true,
    }),
  },
  { additionalProperties: false },
);
export type Tpm = Static<typeof Tpm>;
