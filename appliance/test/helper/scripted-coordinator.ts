import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import type { Layout } from "@resontech/frame/layout";
import type { Test } from "tap";

/** A control socket that answers what the test says; its folder is there. @param answer to `POST /api/…` and the request's body */
export async function scriptedCoordinator(
  t: Test,
  layout: Layout,
  answer: (route: string, body: unknown) => unknown,
): Promise<void> {
  const server = createServer((request, response) => {
    const body = request.method === "GET" ? Promise.resolve(null) : json(request);
    void body.then((given) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(answer(`${request.method} ${request.url}`, given))),
    );
  });
  server.listen(layout.run("coordinator", "control"));
  await once(server, "listening");
  t.teardown(() => server.close());
}
