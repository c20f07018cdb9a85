/** A connection to a replica's container, all the way: through the agent of its node, which knows the gateway by its very certificate. */
import { once } from "node:events";
import { connect, type TLSSocket } from "node:tls";
import { BRIDGE_REACHED } from "@resontech/contracts/agent-protocol";
import type { Replica } from "./admission.ts";

const SETUP_MS = 5_000;

/** Nothing of the call has been sent: somebody else may take it. */
export class ReplicaUnreached extends Error {
  override readonly name = "ReplicaUnreached";
}

/** PEM. */
export type Identity = { cert: string; key: string; ca: string };

/** @throws ReplicaUnreached */
export async function dialReplica(replica: Replica, identity: Identity): Promise<TLSSocket> {
  const socket = connect({
    ...{ host: replica.host, port: replica.port, servername: replica.node },
    ...{ ...identity, minVersion: "TLSv1.3" },
  });
  socket.setNoDelay(true);
  // Without a listener a peer that hangs up would end this process.
  socket.on("error", () => undefined);
  const late = setTimeout(() => socket.destroy(new Error("no answer in time")), SETUP_MS);
  try {
    await once(socket, "secureConnect");
    const shown = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase();
    if (shown !== replica.certificateSha256) throw new Error("another node answers");
    const [first] = (await once(socket, "readable").then(() => [socket.read(1)])) as [
      Buffer | null,
    ];
    if (first?.[0] !== BRIDGE_REACHED) throw new Error("the replica does not answer");
    return socket;
  } catch (error) {
    socket.destroy();
    throw new ReplicaUnreached(`${replica.member} can't be reached`, { cause: error });
  } finally {
    clearTimeout(late);
  }
}
