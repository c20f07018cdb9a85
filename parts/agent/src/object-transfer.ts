/** One request to a presigned URL: over TLS that the appliance's root vouches for, or plain where the site chose so. */
import {
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
  request as httpRequest,
} from "node:http";
import { request as httpsRequest } from "node:https";

const STALL_MS = 60_000;

/**
 * @param begin sends the body; without it the request has none
 * @throws Error on silence of a minute, or when the connection breaks before the answer
 */
export async function transfer(
  url: string,
  options: Pick<RequestOptions, "method" | "headers"> & { ca: string; signal: AbortSignal },
  begin: (request: ClientRequest) => void = (request) => request.end(),
): Promise<IncomingMessage> {
  return await new Promise((resolve, reject) => {
    const send = new URL(url).protocol === "http:" ? httpRequest : httpsRequest;
    const request = send(url, { ...options, timeout: STALL_MS }, resolve);
    request.once("timeout", () => request.destroy(new Error(`no byte for ${STALL_MS / 1000} s`)));
    request.once("error", reject);
    begin(request);
  });
}
