import { readFileSync, unwatchFile, watchFile } from "node:fs";
import type { Server } from "node:https";
import { SERVER_TLS } from "@resontech/frame/tls-suites";
import type { Logger } from "pino";

const LOOK_MS = 5_000;

/**
 * Shows a certificate that was renewed in its place to whoever connects from then on; no connection ends for it. Its key is written first, so a
 * pair that does not fit is looked at again with the next change, and the one before goes on.
 */
export function followCertificate(
  server: Pick<Server, "setSecureContext">,
  { certFile, keyFile }: { certFile: string; keyFile: string },
  log: Logger,
  lookMs = LOOK_MS,
): Disposable {
  const show = (): void => {
    try {
      const [cert, key] = [readFileSync(certFile, "utf8"), readFileSync(keyFile, "utf8")];
      server.setSecureContext({ ...SERVER_TLS, cert, key });
      log.info("a renewed certificate is shown");
    } catch (err) {
      log.error({ err }, "a renewed certificate can't be shown; the one before goes on");
    }
  };
  watchFile(certFile, { interval: lookMs, persistent: false }, show);
  return { [Symbol.dispose]: () => unwatchFile(certFile, show) };
}
