import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Source } from "../../src/staging/object-bytes.ts";

export type ObjectServer = AsyncDisposable & {
  source: Source;
  /** The range of each request, in order; empty where it asked for the whole. */
  requests: string[];
};

/** One object over HTTP, with ranges. @param breaksAfter bytes of an answer after which its connection breaks, once for each number */
export async function startObjectServer(
  body: Uint8Array,
  breaksAfter: number[] = [],
): Promise<ObjectServer> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const range = request.headers.range ?? "";
    requests.push(range);
    const [, from = "0", to = String(body.length - 1)] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
    const bytes = body.subarray(Number(from), Number(to) + 1);
    response.writeHead(range === "" ? 200 : 206, { "content-length": bytes.length });
    const breaksAt = breaksAfter.shift();
    if (breaksAt === undefined) response.end(bytes);
    else
      response.write(bytes.subarray(0, breaksAt), () => setTimeout(() => response.destroy(), 20));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/object`;
  return {
    source: { ca: "", url: async () => url },
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
