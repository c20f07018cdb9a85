/** The notifier as `appliance alerts` asks it. */
import { ask } from "@resontech/frame/ask";
import { socketOf } from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { OperationError } from "@resontech/frame/operation-error";
import { notifier } from "../../part.ts";
import { listTargets, sendTestAlert, type TargetState } from "../operations.ts";

/** A message may take the notifier twenty seconds. */
const TRY_MS = 25_000;
const STATUS_MS = 3_000;

/** The notifier says no, or is away. */
export class NotifierError extends Error {
  override readonly name = "NotifierError";
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

const HINTS: Readonly<Record<string, string>> = {
  no_target: "appliance alerts ls names the targets.",
  secret_missing: "Set the target again, with its secret: appliance alerts add --help",
  outside_perimeter: "Name the network of your site with --perimeter, where it is no private one.",
  not_found: "Look at the name, and at the host's resolver.",
  unreachable: "Look at address, port and the firewalls between.",
  untrusted:
    "Give the authority of the server's certificate with --ca-file, and the host by its name.",
  refused: "Look at the server's log: it took the connection and not the message.",
  login_refused: "Set the target again, with another --username or password.",
  unconfirmed: "The receiver must end the connection after the sender has.",
};

/** @throws NotifierError */
export async function tryTarget(layout: Layout, target: string): Promise<void> {
  try {
    await ask(controlOf(layout), sendTestAlert, { target }, { timeoutMs: TRY_MS });
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    const { code, message } = error;
    if (code === "part_away")
      throw new NotifierError(
        "notifier_away",
        `the notifier does not answer: ${message}`,
        "appliance status",
      );
    throw new NotifierError(code, message, HINTS[code] ?? "");
  }
}

/** Asks how the targets are; null while the notifier does not answer. */
export async function readTargetStates(layout: Layout): Promise<TargetState[] | null> {
  try {
    const { targets } = await ask(controlOf(layout), listTargets, {}, { timeoutMs: STATUS_MS });
    return targets;
  } catch {
    return null;
  }
}

function controlOf(layout: Layout): string {
  return socketOf(notifier, layout, "control");
}
