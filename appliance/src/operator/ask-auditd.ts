import type { AuditControlRequest, LogStatus } from "@resontech/contracts/audit-control";
import { askLine } from "@resontech/frame/ask-lines";
import { OperationError } from "@resontech/frame/operation-error";

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

/** Asks auditd on its control socket. @throws AuditRefusedError, AuditdAwayError */
export async function askAuditd(
  socketPath: string,
  request: AuditControlRequest,
  timeoutMs = 120_000,
): Promise<LogStatus> {
  try {
    return (await askLine(socketPath, request, timeoutMs)) as LogStatus;
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    if (error.code !== "part_away") throw new AuditRefusedError(error);
    throw new AuditdAwayError(
      `auditd does not run, or starts, or does not answer: ${error.message}`,
      { cause: error },
    );
  }
}
