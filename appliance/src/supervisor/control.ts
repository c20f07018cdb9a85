/** The supervisor's control socket: one JSON object a line each way, root alone. */
import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import type { PartStatus } from "./supervisor.ts";

/** `parts`: those alone, which stay down until they are started; without, everything, and the supervisor ends. */
export type SupervisorRequest =
  | { verb: "status" }
  | { verb: "stop"; parts?: readonly string[] }
  /** These go on when everything is stopped. */
  | { verb: "keep"; parts: readonly string[] }
  | { verb: "start"; parts: readonly string[] };
export type SupervisorReply = { parts: PartStatus[] };

/** Whoever asks holds the instance's lock: a socket that is there is a dead one's. */
export async function listenControl(
  path: string,
  answer: (request: SupervisorRequest) => SupervisorReply,
): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    createInterface({ input: socket })
      .once("line", (line) => {
        socket.end(`${JSON.stringify(reply(line, answer))}\n`);
      })
      // readline repeats the socket's error; the listener above has answered it.
      .on("error", () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return server;
}

function reply(line: string, answer: (request: SupervisorRequest) => SupervisorReply): unknown {
  try {
    // Root alone can ask: what it asks for is the release's own command.
    const request = JSON.parse(line) as SupervisorRequest;
    if (["status", "stop", "keep", "start"].includes(request.verb)) return answer(request);
  } catch {
    // Falls through: what is no request gets the same answer as an unknown verb.
  }
  return { error: "unknown request" };
}

/** Asks the running supervisor; null when none runs. */
export async function askSupervisor(
  path: string,
  request: SupervisorRequest,
  timeoutMs = 5_000,
): Promise<SupervisorReply | null> {
  return await new Promise((resolve) => {
    const socket = createConnection(path);
    const give = (value: SupervisorReply | null): void => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(timeoutMs, () => give(null));
    socket.once("error", () => give(null));
    socket.once("close", () => give(null));
    socket.once("connect", () => socket.write(`${JSON.stringify(request)}\n`));
    createInterface({ input: socket })
      .once("line", (line) => give(readReply(line)))
      // readline repeats the socket's error; the listener above has answered it.
      .on("error", () => give(null));
  });
}

function readReply(line: string): SupervisorReply | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "parts" in value
      ? (value as SupervisorReply)
      : null;
  } catch {
    return null;
  }
}
