import { once } from "node:events";
import { connect } from "node:net";

/** Whether somebody takes connections at this path. A socket is a file a moment before its owner listens: that the file is there tells nothing. */
export async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
