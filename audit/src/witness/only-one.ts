/** One process at a time changes what a witness has cosigned: two would look at the same state and each go on from it on its own. */
import { rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { WitnessError } from "./errors.ts";

/** In the folder that the process stands in, because a socket's path may have 107 bytes. A killed process leaves the file, and nobody answers. */
const SOCKET = "serving.sock";

/** Holds until the process ends, with all that it has under way. @throws WitnessError when another one holds */
export async function becomeTheOnlyOne(): Promise<void> {
  if ((await listen()) !== null) return;
  if (await isAnswered()) throw alreadyServing();
  await rm(SOCKET, { force: true });
  if ((await listen()) === null) throw alreadyServing();
}

function alreadyServing(): WitnessError {
  return new WitnessError("already_serving", "another process serves this witness: stop it first, and start it again afterwards");
}

/** Null when the name is taken. */
function listen(): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error) => ("code" in error && error.code === "EADDRINUSE" ? resolve(null) : reject(error)));
    server.listen(SOCKET, () => resolve(server.unref()));
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
