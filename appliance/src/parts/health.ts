import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";

/** True when something accepts on the address. */
export async function acceptsTcp(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 });
    const give = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket
      .once("connect", () => give(true))
      .once("error", () => give(false))
      .once("timeout", () => give(false));
  });
}

/** True when something accepts on the Unix socket. */
export async function acceptsUnix(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ path, timeout: 2_000 });
    const give = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket
      .once("connect", () => give(true))
      .once("error", () => give(false))
      .once("timeout", () => give(false));
  });
}

/** Status of `GET path` over a Unix socket; null when there was no answer. */
export async function unixHttpStatus(socketPath: string, path: string): Promise<number | null> {
  return await new Promise((resolve) => {
    const asked = httpRequest({ socketPath, path, headers: { host: "localhost" }, timeout: 3_000, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    asked.once("error", () => resolve(null)).once("timeout", () => asked.destroy());
    asked.end();
  });
}

/** Status of `GET path` under TLS that our root must vouch for; null when there was no answer. */
export async function httpsStatus(target: {
  host: string;
  port: number;
  path: string;
  servername: string;
  caFile: string;
}): Promise<number | null> {
  return await new Promise((resolve) => {
    const asked = request(
      {
        host: target.host,
        port: target.port,
        path: target.path,
        servername: target.servername,
        headers: { host: `${target.servername}:${target.port}` },
        ca: readFileSync(target.caFile),
        timeout: 3_000,
        agent: false,
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? null);
      },
    );
    asked.once("error", () => resolve(null)).once("timeout", () => asked.destroy());
    asked.end();
  });
}
