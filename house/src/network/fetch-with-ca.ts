import { request } from "node:https";

/** `fetch` for a server of the test CA; the built-in one trusts public CAs alone. */
export function fetchWithCa(
  ca: string,
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string | Uint8Array } = {},
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const sent = request(
    url,
    { method: init.method ?? "GET", headers: init.headers ?? {}, ca },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        const status = answer.statusCode ?? 0;
        resolve(
          new Response(status === 204 || status === 304 ? null : Buffer.concat(chunks), {
            status,
            headers,
          }),
        );
      });
    },
  );
  sent.on("error", reject);
  sent.end(init.body);
  return promise;
}
