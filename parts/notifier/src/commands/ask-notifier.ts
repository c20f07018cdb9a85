import type {
  NotifierReply,
  NotifierRequest,
  TargetState,
} from "@resontech/contracts/notifier-protocol";
import { askJsonLines } from "@resontech/frame/ask-json-lines";
import type { Layout } from "@resontech/frame/layout";

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
export async function tryTarget(layout: Layout, name: string): Promise<void> {
  const reply = await ask(layout, { verb: "test", name }, TRY_MS).catch((cause: unknown) => {
    throw new NotifierError(
      "notifier_away",
      `the notifier does not answer: ${String(cause)}`,
      "appliance status",
    );
  });
  if (!reply.ok)
    throw new NotifierError(reply.error.code, reply.error.message, HINTS[reply.error.code] ?? "");
}

/** Null while the notifier does not answer. */
export async function readTargetStates(layout: Layout): Promise<TargetState[] | null> {
  const reply = await ask(layout, { verb: "status" }, STATUS_MS).catch(() => null);
  return reply?.ok === true && reply.verb === "status" ? reply.targets : null;
}

async function ask(
  layout: Layout,
  request: NotifierRequest,
  silenceMs: number,
): Promise<NotifierReply> {
  for await (const line of askJsonLines(layout.notifierSocket, request, silenceMs))
    return line as NotifierReply;
  throw new Error("it ended the connection");
}
