/** Composition: the sockets, and a look every now and then. */
import { setTimeout as pause } from "node:timers/promises";
import type { NotifierConfig } from "@resontech/contracts/notifier-config";
import type { Logger } from "pino";
import { listenControl, listenForMail } from "./listen.ts";
import { Notifier } from "./notifier.ts";

export async function openNotifier(config: NotifierConfig, log: Logger): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const notifier = new Notifier({ config, log });
  stack.use(await listenControl(config.controlSocket, notifier));
  stack.use(await listenForMail(config.mailSocket, notifier));
  const ended = new AbortController();
  const looking = keepLooking(notifier, config.pollMs, log, ended.signal);
  stack.defer(async () => {
    ended.abort();
    await looking;
  });
  return stack.move();
}

async function keepLooking(
  notifier: Notifier,
  everyMs: number,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await notifier
      .look()
      .catch((err: unknown) => log.error({ err }, "a look at the alerts failed"));
    await pause(everyMs, undefined, { signal }).catch(() => {});
  }
}
