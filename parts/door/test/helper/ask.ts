import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { request } from "node:https";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { untilClosed } from "@resontech/house/until-closed";

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string };

/** One request over a connection of its own. */
export async function ask(
  { port, caFile }: { port: number; caFile: string },
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Buffer } = {},
): Promise<Answer> {
  const sent = request({
    ...{ host: "localhost", port, path, agent: false, ca: readFileSync(caFile) },
    method: options.method ?? "GET",
    headers: options.headers ?? {},
  });
  sent.end(options.body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response.setEncoding("utf8")) body += chunk as string;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** A TLS connection to speak HTTP/1.1 on by hand. @throws when the handshake fails */
export async function openTls(
  { port, caFile }: { port: number; caFile: string },
  options: ConnectionOptions = {},
): Promise<TLSSocket> {
  const socket = connectTls({
    ...{ host: "127.0.0.1", servername: "localhost", port, ca: readFileSync(caFile) },
    ...options,
  });
  await once(socket, "secureConnect");
  return socket;
}

/** Sends the bytes and answers with all that comes until the other side ends the connection. */
export async function exchange(
  door: { port: number; caFile: string },
  bytes: string,
): Promise<string> {
  const socket = await openTls(door);
  socket.write(bytes);
  return await readToEnd(socket);
}

export async function readToEnd(socket: TLSSocket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  await untilClosed(socket);
  return text;
}
