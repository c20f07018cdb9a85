/** The two programs behind a door, as real servers that answer with what reached them. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { type Duplex, pipeline } from "node:stream";
import type { DoorCertificates } from "./running-door.ts";

/** What a request looked like behind the door. */
export type Seen = {
  server: "coordinator" | "keycloak";
  method: string;
  url: string;
  headers: Record<string, string>;
  bodyBytes: number;
};

const WEBSOCKET_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/**
 * Plain HTTP on a Unix socket. `/slow/<ms>` answers after so long, `/die` ends its connection without an answer, `/refused` answers before it took
 * the body.
 */
export async function coordinatorAt(socket: string): Promise<Server> {
  const server = createServer((request, response) => void answer("coordinator", request, response));
  server.on("upgrade", acceptWebSocket);
  server.listen(socket);
  await once(server, "listening");
  return server;
}

/** The inference gateway: it answers with the type that the request names. */
export async function servingAt(socket: string): Promise<Server> {
  const server = createServer((request, response) => {
    const type = String(request.headers["x-answer-type"] ?? "");
    response.writeHead(200, type === "" ? {} : { "content-type": type });
    response.end("{}");
  });
  server.listen(socket);
  await once(server, "listening");
  return server;
}

/** HTTPS on loopback. */
export async function keycloakWith(
  certificates: DoorCertificates,
  trusts: string = certificates.caFile,
): Promise<{ port: number; server: Server }> {
  const server = createTlsServer(
    {
      cert: readFileSync(certificates.certFile),
      key: readFileSync(certificates.keyFile),
      // As Keycloak does: whoever comes has a certificate.
      ...{ ca: readFileSync(trusts), requestCert: true, rejectUnauthorized: true },
    },
    (request, response) => void answer("keycloak", request, response),
  ) as unknown as Server;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

/** Takes a connection to a server of loopback at once, as the kernel does for any program, and passes its first byte on after so long. */
export async function lateBefore(
  port: number,
  lateMs: number,
): Promise<{ port: number; server: ReturnType<typeof createTcpServer> }> {
  const server = createTcpServer({ pauseOnConnect: true }, (client) => {
    setTimeout(() => {
      const behind = connect({ host: "127.0.0.1", port });
      pipeline(client, behind, client, () => {});
      client.resume();
    }, lateMs);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, server };
}

/** Ends the server and every connection of it. */
export async function end(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}

async function answer(
  server: Seen["server"],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.url === "/refused") {
    response.writeHead(403, { "content-length": 0 }).end();
    return;
  }
  let bodyBytes = 0;
  try {
    for await (const chunk of request) bodyBytes += (chunk as Buffer).length;
  } catch {
    return;
  }
  const { method = "", url = "", headers } = request;
  if (url === "/die") {
    request.socket.destroy();
    return;
  }
  const wait = /^\/slow\/(\d+)$/.exec(url)?.[1];
  if (wait !== undefined) await new Promise((resolve) => setTimeout(resolve, Number(wait)));
  const seen = { server, method, url, headers, bodyBytes };
  response.setHeader("content-type", "application/json").end(JSON.stringify(seen));
}

/** Takes the handshake and gives back every byte that follows: https://www.rfc-editor.org/rfc/rfc6455#section-4.2.2 */
function acceptWebSocket(request: IncomingMessage, socket: Duplex): void {
  const key = request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1").update(`${key}${WEBSOCKET_GUID}`).digest("base64");
  const peer = String(request.headers["x-rt-peer"]);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\nx-seen-peer: ${peer}\r\n\r\n`,
  );
  socket.on("error", () => socket.destroy());
  socket.pipe(socket);
}
