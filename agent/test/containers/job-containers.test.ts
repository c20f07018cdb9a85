/** Answers of a container engine that a real one gives too seldom to be waited for; `endings.test.ts` has the real engine. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Docker from "dockerode";
import t, { type Test } from "tap";
import { JobContainers } from "../../src/containers/job-containers.ts";

/** An engine that gives these answers, then the last one for ever. */
async function engineThatSays(t: Test, answers: readonly [status: number, body: unknown][]): Promise<JobContainers> {
  let asked = 0;
  const server = createServer((_, response: ServerResponse) => {
    const [status, body] = answers[Math.min(asked, answers.length - 1)] ?? [500, {}];
    asked += 1;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return new JobContainers(new Docker({ protocol: "http", host: "127.0.0.1", port }), "test");
}

const ended = { Id: "a", State: { Running: false, Status: "exited", Pid: 0, ExitCode: 3, OOMKilled: false } };
/** As Podman 4.3 said it. */
const gone = { cause: "no such process", message: "read /proc/2760/cgroup: no such process", response: 500 };

t.test("a container whose process ends while it is asked about is asked about again", async (t) => {
  const containers = await engineThatSays(t, [
    [500, gone],
    [500, gone],
    [200, ended],
  ]);
  t.match(await containers.inspect("c"), { phase: "ended", exitCode: 3 });
});

t.test("another failure of the engine is told at once", async (t) => {
  const containers = await engineThatSays(t, [
    [500, { message: "database is locked", response: 500 }],
    [200, ended],
  ]);
  await t.rejects(containers.inspect("c"), { message: /database is locked/ });
});

t.test("a failure that stays is told in the end", async (t) => {
  const containers = await engineThatSays(t, [[500, gone]]);
  await t.rejects(containers.inspect("c"), { message: /no such process/ });
});
