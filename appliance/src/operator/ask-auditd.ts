import { createConnection } from "node:net";
import { text } from "node:stream/consumers";
import type {
  AuditControlReply,
  AuditControlRequest,
  LogStatus,
} from "@resontech/contracts/audit-control";

/** auditd understood the request and does not grant it. */
export class AuditRefusedError extends Error {
  readonly code: string;

  constructor({ code, message }: { code: string; message: string }) {
    super(message);
    this.code = code;
  }
}

/** Nobody listens on its control socket. */
export class AuditdAwayError extends Error {
  readonly code = "auditd_away";
  readonly hint = "Look at `appliance status`; once auditd is healthy, run the command again.";
}

/** Asks auditd on its control socket. @throws AuditRefusedError, AuditdAwayError, or what the socket says */
export async function askAuditd(
  socketPath: string,
  request: AuditControlRequest,
  timeoutMs = 120_000,
): Promise<LogStatus> {
  const socket = createConnection(socketPath);
  socket.setTimeout(timeoutMs, () =>
    socket.destroy(new Error(`auditd did not answer within ${timeoutMs / 1000} s`)),
  );
  socket.end(`${JSON.stringify(request)}\n`);
  const said = await text(socket).catch((cause: NodeJS.ErrnoException) => {
    const isAway = cause.code === "ENOENT" || cause.code === "ECONNREFUSED";
    throw isAway ? new AuditdAwayError("auditd does not run, or starts", { cause }) : cause;
  });
  const reply = JSON.parse(said) as AuditControlReply;
  if ("error" in reply) throw new AuditRefusedError(reply.error);
  return reply;
}
