/** What a container engine answers to a pull, by an HTTP server that says what a real Docker said; the real pull is every install's. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Docker from "dockerode";
import t, { type Test } from "tap";
import { pullImage } from "../../src/parts/pull-image.ts";

const reference = "localhost:5000/resontech/postgres@sha256:00";

async function engineThatReports(t: Test, lines: readonly object[]): Promise<Docker> {
  const server = createServer((request, response) => {
    const isPull = request.method === "POST";
    response.writeHead(isPull ? 200 : 404, { "content-type": "application/json" });
    response.end(
      isPull
        ? lines.map((line) => `${JSON.stringify(line)}\n`).join("")
        : '{"message":"No such image"}',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  return new Docker({
    protocol: "http",
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
  });
}

const login = async () => ({ username: "u", password: "p" });

t.test("a pull that fails after its answer has begun says why", async (t) => {
  const error =
    "failed to register layer: Error processing tar file(exit status 1): archive/tar: invalid tar header";
  const engine = await engineThatReports(t, [
    { status: "Pulling fs layer" },
    { errorDetail: { message: error }, error },
  ]);
  await t.rejects(pullImage(engine, reference, login), {
    code: "pull_failed",
    message: /invalid tar header/,
  });
});

t.test("a pull that reports no error is done", async (t) => {
  const engine = await engineThatReports(t, [
    { status: "Pulling fs layer" },
    { status: "Download complete" },
  ]);
  await t.resolves(pullImage(engine, reference, login));
});
