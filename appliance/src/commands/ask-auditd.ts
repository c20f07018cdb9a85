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

/** Asks auditd on its control socket. @throws AuditRefusedError, or an error when nobody answers */
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
  const reply = JSON.parse(await text(socket)) as AuditControlReply;
  if ("error" in reply) throw new AuditRefusedError(reply.error);
  return reply;
}
