import { once } from "node:events";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { SyslogTarget } from "../alert-targets.ts";
import { octetCounted } from "@resontech/frame/octet-counted";
import { connectionError, DeliveryError } from "../delivery-error.ts";
import { addressInside } from "../perimeter.ts";
import { DELIVERY_MS, type ServerFiles, tlsOf } from "./server.ts";

/**
 * Syslog has no acknowledgements, so the end of the connection serves as one: we end our side, and the receiver, which reads in order, ends its
 * own once it has read that.
 * @throws DeliveryError
 */
export async function sendSyslog(
  target: SyslogTarget,
  files: ServerFiles,
  messages: readonly string[],
): Promise<void> {
  const signal = AbortSignal.timeout(DELIVERY_MS);
  const socket = await open(target, files, signal);
  try {
    const ended = once(socket, "end", { signal });
    ended.catch(() => {});
    // Whatever it says is thrown away; unread it would hide the end.
    socket.resume();
    socket.end(Buffer.concat(messages.map(octetCounted)));
    await ended;
  } catch (error) {
    if (!signal.aborted) throw connectionError(error);
    throw new DeliveryError("unconfirmed", "the receiver did not end the connection after ours");
  } finally {
    socket.destroy();
  }
}

async function open(
  target: SyslogTarget,
  files: ServerFiles,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port, transport } = target;
  const address = await addressInside(host, target.perimeter ?? []);
  const dialled = { host: address, port, allowHalfOpen: true };
  const isTls = transport === "tls";
  const socket = isTls
    ? connectTls({ ...dialled, ...tlsOf(host, target, files) })
    : connectTcp(dialled);
  // Once connected, each wait has its own.
  socket.on("error", () => {});
  try {
    await once(socket, isTls ? "secureConnect" : "connect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw connectionError(error);
  }
}
