import { rmSync } from "node:fs";
import { createServer } from "node:net";

/** Listens where a supervisor asks whether this process still turns: whoever ends a connection sees it ended from here as well. */
export async function listenForLiveness(path: string): Promise<void> {
  rmSync(path, { force: true });
  const server = createServer((socket) => socket.on("error", () => socket.destroy()).resume());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
}
