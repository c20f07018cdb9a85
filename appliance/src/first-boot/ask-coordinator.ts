import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { hostPerson } from "../audit/host-person.ts";
import type { ControlReply, ControlRequest } from "@resontech/contracts/control-protocol";

/** The coordinator refused a request of the control socket; `code` and `hint` are its own. */
export class ControlRefusedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(reply: { code: string; message: string; hint: string }) {
    super(reply.message);
    this.code = reply.code;
    this.hint = reply.hint;
  }
}

/** Asks the coordinator over its control socket. @throws ControlRefusedError, or an error when nobody answers */
export async function askCoordinator<V extends ControlRequest["verb"]>(
  socketPath: string,
  request: Extract<ControlRequest, { verb: V }>,
  timeoutMs = 60_000,
): Promise<Extract<ControlReply, { verb: V }>> {
  const person = hostPerson();
  const line = await new Promise<string>((resolve, reject) => {
    const socket = createConnection(socketPath);
    socket.setTimeout(timeoutMs, () =>
      socket.destroy(new Error(`the coordinator did not answer within ${timeoutMs / 1000} s`)),
    );
    socket.once("error", reject);
    socket.once("connect", () =>
      socket.write(`${JSON.stringify({ ...request, ...(person === null ? {} : { person }) })}\n`),
    );
    createInterface({ input: socket })
      .once("line", (answer) => {
        resolve(answer);
        socket.destroy();
      })
      .on("error", reject);
    socket.once("close", () =>
      reject(new Error("the coordinator closed its control socket without an answer")),
    );
  });
  const reply = JSON.parse(line) as ControlReply;
  if (!reply.ok) throw new ControlRefusedError(reply);
  return reply as Extract<ControlReply, { verb: V }>;
}
