/** Once a day, while everything runs: certificates of the ports that are open to the network are renewed in the last third of their life. */
import type { Logger } from "pino";
import { renewLiveDoors, renewToldDoors } from "../first-boot/prepare.ts";
import type { PartContext } from "../parts/context.ts";
import { signalRecorded } from "../parts/process-identity.ts";

const DAY_MS = 86_400_000;

export function renewDaily(context: PartContext, log: Logger): Disposable {
  const timer = setInterval(() => {
    renewNow(context, log).catch((err: unknown) =>
      log.error({ err }, "could not renew the certificates of the doors"),
    );
  }, DAY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export async function renewNow(context: PartContext, log: Logger): Promise<void> {
  await renewLiveDoors(context);
  for (const { part, signal } of await renewToldDoors(context)) {
    log.info({ part }, "its certificate was renewed");
    signalRecorded(context.layout.run(`${part}.pid`), signal);
  }
}
