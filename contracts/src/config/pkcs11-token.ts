/** A PKCS#11 token and who opens it: part of the configurations of auditd and vault. */
import { type Static, Type } from "typebox";

const Path = Type.String({ pattern: "^/", minLength: 2, maxLength: 4096 });

/** `module`: the maker's library. `label`: the token's own. `pinFile`: 0400, of the user whose process opens it. */
export const Pkcs11Token = Type.Object(
  { module: Path, label: Type.String({ minLength: 1, maxLength: 32 }), pinFile: Path },
  { additionalProperties: false },
);
export type Pkcs11Token = Static<typeof Pkcs11Token>;
