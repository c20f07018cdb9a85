/** `<root>/etc/notifier.json` (0440, rt-notifier): written by appliance/, read and validated by monitoring/. Paths are absolute. */
import { type Static, Type } from "typebox";

const closed = { additionalProperties: false } as const;
const Path = Type.String({ minLength: 1, maxLength: 4096 });
const SocketPath = Type.String({ pattern: "^/", minLength: 2, maxLength: 107 });

export const NotifierConfig = Type.Object(
  {
    /** How messages name the appliance. */
    appliance: Type.String({ minLength: 1, maxLength: 253 }),
    /** Of 127.0.0.1; the certificate is the one of the name that Prometheus answers. */
    prometheus: Type.Object(
      { port: Type.Integer(), caFile: Path, certFile: Path, keyFile: Path },
      closed,
    ),
    /** See `alert-targets`. Read anew at each look; absent: nobody is told. */
    targetsFile: Path,
    /** Holds `<name>.secret` and `<name>.ca.crt`. */
    secretsDir: Path,
    /** Vouches for servers whose target names no authority of its own. */
    rootCertFile: Path,
    /** Where the release has the pages that alerts name. */
    runbooksDir: Path,
    stateDir: Path,
    /** Unix socket of the `appliance` command; its folder lets in root alone. */
    controlSocket: SocketPath,
    /** Unix socket where the coordinator hands over mails; its folder lets in the coordinator alone. */
    mailSocket: SocketPath,
    pollMs: Type.Integer({ minimum: 100, default: 15_000 }),
    logLevel: Type.String({ default: "info" }),
  },
  closed,
);
export type NotifierConfig = Static<typeof NotifierConfig>;
