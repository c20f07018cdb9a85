import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { json } from "node:stream/consumers";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import type { LocalAppliance } from "@resontech/house/local-appliance";

/** A request on the coordinator's own socket, as the front door makes it, with the first user's key. */
export async function askBehindTheDoor(
  appliance: LocalAppliance,
  method: string,
  path: string,
  body: object,
): Promise<{ status: number; body: unknown }> {
  const text = JSON.stringify(body);
  const sent = request({
    socketPath: `/run/resontech/${appliance.instance}/api/sock`,
    ...{ method, path },
    headers: {
      [PEER_HEADER]: "127.0.0.1",
      host: "localhost",
      authorization: `Bearer ${appliance.quickstart()["RESON_API_KEY"]}`,
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
    },
  });
  sent.end(text);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await json(answer) };
}
