/** One process serves a witness's folder: two would look at the same state and each cosign another tree. */
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { WitnessError } from "./errors.ts";

/** In the folder that the process stands in, because a socket's path may have 107 bytes. A killed process leaves the file, and nobody answers. */
const SOCKET = "serving.sock";

/** Holds until the server that it answers is closed, or the process ends. @throws WitnessError when another one serves */
export async function becomeTheOnlyOne(): Promise<Server> {
  const held = await listen();
  if (held !== null) return held;
  if (await isAnswered()) throw new WitnessError("already_serving", "another process serves this witness");
  await rm(SOCKET, { force: true });
  const again = await listen();
  if (again === null) throw new WitnessError("already_serving", "another process serves this witness");
  return again;
}

/** Null when the name is taken. */
function listen(): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error) => ("code" in error && error.code === "EADDRINUSE" ? resolve(null) : reject(error)));
    server.listen(SOCKET, () => resolve(server));
  });
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(SOCKET);
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", () => resolve(false));
  });
}
