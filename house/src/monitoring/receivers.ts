/** Real servers of each kind, in this process: SMTP, HTTPS, syslog over TLS and TCP. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttps, type Server as HttpsServer } from "node:https";
import type { IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from "node:net";
import { createServer as createTls } from "node:tls";
import { SMTPServer } from "smtp-server";

export type Certificate = { certFile: string; keyFile: string };
export type ReceivedMail = { from: string; to: string[]; text: string; user: string | null };

/** @param refusedTo recipients that it does not take */
export async function smtpServer(
  certificate: Certificate,
  {
    secure = false,
    password = null,
    refusedTo = [],
  }: { secure?: boolean; password?: string | null; refusedTo?: string[] } = {},
): Promise<{ port: number; mails: ReceivedMail[]; close: () => Promise<void> }> {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...{ secure, cert: readFileSync(certificate.certFile), key: readFileSync(certificate.keyFile) },
    ...(password === null ? { authOptional: true } : {}),
    ...{ disableReverseLookup: true, logger: false },
    onAuth: (auth, _session, done) => {
      if (auth.password === password) done(null, { user: auth.username ?? "" });
      else done(new Error("no"));
    },
    onRcptTo: ({ address }, _session, done) =>
      done(refusedTo.includes(address) ? new Error("no such mailbox") : null),
    onData: (stream, session, done) => {
      let text = "";
      stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      stream.on("end", () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          ...{
            from: mailFrom === false ? "" : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
          },
          ...{ text, user: typeof session.user === "string" ? session.user : null },
        });
        done();
      });
    },
  });
  // A client that hangs up in a handshake is part of the tests.
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  return {
    ...{ port: (listening.address() as AddressInfo).port, mails },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export type ReceivedPost = { path: string; headers: IncomingHttpHeaders; body: string };

export async function webhookServer({ certFile, keyFile }: Certificate): Promise<{
  port: number;
  posts: ReceivedPost[];
  answer: { status: number };
  close: () => Promise<void>;
}> {
  const posts: ReceivedPost[] = [];
  const answer = { status: 204 };
  const server = createHttps(
    { cert: readFileSync(certFile), key: readFileSync(keyFile) },
    (request, reply) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        posts.push({ path: request.url ?? "", headers: request.headers, body });
        reply.writeHead(answer.status, { location: "https://elsewhere.example/" }).end();
      });
    },
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    posts,
    answer,
    close: () => closed(server),
  };
}

/** @param endsBack false: it reads, and never ends its side */
export async function syslogServer(
  certificate: Certificate | null,
  endsBack = true,
): Promise<{ port: number; lines: string[]; close: () => Promise<void> }> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  const take = (socket: Socket): void => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", () => socket.destroy());
    socket.on("end", () => {
      lines.push(...framesOf(Buffer.concat(chunks)));
      if (endsBack) socket.end();
    });
  };
  const options = { allowHalfOpen: true };
  const server: Server =
    certificate === null
      ? createTcp(options, take)
      : createTls(
          {
            ...options,
            ...{ cert: readFileSync(certificate.certFile), key: readFileSync(certificate.keyFile) },
          },
          take,
        );
  // Under TLS these are the connections below it: a handshake that failed leaves no other.
  server.on("connection", (socket: Socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await closed(server);
  };
  return { port: (server.address() as AddressInfo).port, lines, close };
}

/** Octet-counted frames (RFC 6587). */
function framesOf(bytes: Buffer): string[] {
  const frames: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at);
    const length = Number(bytes.subarray(at, blank).toString());
    frames.push(bytes.subarray(blank + 1, blank + 1 + length).toString("utf8"));
    at = blank + 1 + length;
  }
  return frames;
}

async function closed(server: Server | HttpsServer): Promise<void> {
  if ("closeAllConnections" in server) server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
