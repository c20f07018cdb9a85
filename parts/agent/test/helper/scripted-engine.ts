/** Answers of a container engine that a real one gives too seldom to be waited for; `endings.engines.test.ts` has the real engine. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Docker from "dockerode";
import type { Test } from "tap";

/** An engine that gives these answers, then the last one for ever. */
export async function engineThatSays(
  t: Test,
  answers: readonly [status: number, body: unknown][],
): Promise<Docker> {
  let asked = 0;
  const server = createServer((_, response: ServerResponse) => {
    const [status, body] = answers[Math.min(asked, answers.length - 1)] ?? [500, {}];
    asked += 1;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return new Docker({ protocol: "http", host: "127.0.0.1", port });
}
