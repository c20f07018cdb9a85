import { connect } from "node:net";

/** TEST-NET-3 of RFC 5737: nobody answers there, so an answer other than "unreachable" means that a packet went out. */
export const ELSEWHERE = { host: "203.0.113.1", port: 443 } as const;

/** @returns what came of a connection: "connected", "no answer" or the error's code */
export async function dial(to: { host: string; port: number }): Promise<string> {
  return await new Promise((resolve) => {
    const socket = connect({ ...to, timeout: 3_000 });
    const end = (how: string): void => {
      socket.destroy();
      resolve(how);
    };
    socket.once("connect", () => end("connected"));
    socket.once("timeout", () => end("no answer"));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}
