/** What the notifier is told of its place. Paths are absolute. */
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const Path = Type.String({ minLength: 1, maxLength: 4096 });

export const NotifierConfig = Type.Object(
  {
    /** How messages name the appliance. */
    appliance: Type.String({ minLength: 1, maxLength: 253 }),
    /** Of 127.0.0.1; the certificate is the one of the name that Prometheus answers. */
    prometheus: Type.Object(
      { port: Type.Integer(), caFile: Path, certFile: Path, keyFile: Path },
      closed,
    ),
    /** See alert-targets.ts. Read anew at each look; absent: nobody is told. */
    targetsFile: Path,
    /** Holds `<name>.secret` and `<name>.ca.crt`. */
    secretsDir: Path,
    /** Vouches for servers whose target names no authority of its own. */
    rootCertFile: Path,
    /** Where the release has the pages that alerts name. */
    runbooksDir: Path,
    pollMs: Type.Integer({ minimum: 100, default: 15_000 }),
  },
  closed,
);
export type NotifierConfig = Static<typeof NotifierConfig>;
