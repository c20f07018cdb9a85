/** The notifier's process: its operations, and a look at the alerts every now and then. */
import { setTimeout as pause } from "node:timers/promises";
import { answering } from "@resontech/frame/operation";
import { OperationError } from "@resontech/frame/operation-error";
import { runPart } from "@resontech/frame/run-part";
import type { Logger } from "pino";
import { notifier as part } from "../part.ts";
import { connectionError } from "./delivery-error.ts";
import { Notifier } from "./notifier.ts";
import { listTargets, mailToPerson, sendTestAlert } from "./operations.ts";

runPart(part, async ({ config: { own }, dataDir, log }) => {
  const notifier = new Notifier({ config: own, dataDir: dataDir(), log });
  const ended = new AbortController();
  const looking = keepLooking(notifier, own.pollMs, log, ended.signal);
  return {
    answers: {
      control: [
        answering(listTargets, async () => notifier.status()),
        answering(sendTestAlert, ({ target }) => delivered(notifier.test(target))),
      ],
      mail: [answering(mailToPerson, (mail) => delivered(notifier.mail(mail)))],
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await looking;
    },
  };
});

/** @throws OperationError with what the target, or the way to it, says */
async function delivered(sending: Promise<void>): Promise<object> {
  try {
    await sending;
    return {};
  } catch (error) {
    const { code, message } = connectionError(error);
    throw new OperationError(code, message, { cause: error });
  }
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
