import t, { type Test } from "tap";
import { JobContainers } from "../../../../src/substrate/container-host/containers/job-containers.ts";
import { engineThatSays } from "../../../helper/scripted-engine.ts";

async function containersOf(
  t: Test,
  answers: readonly [status: number, body: unknown][],
): Promise<JobContainers> {
  return new JobContainers(await engineThatSays(t, answers), "test");
}

const ended = {
  Id: "a",
  State: { Running: false, Status: "exited", Pid: 0, ExitCode: 3, OOMKilled: false },
};
/** As Podman 4.3 said it. */
const gone = {
  cause: "no such process",
  message: "read /proc/2760/cgroup: no such process",
  response: 500,
};

t.test("a container whose process ends while it is asked about is asked about again", async (t) => {
  const containers = await containersOf(t, [
    [500, gone],
    [500, gone],
    [200, ended],
  ]);
  t.match(await containers.inspect("c"), { phase: "ended", exitCode: 3 });
});

t.test("another failure of the engine is told at once", async (t) => {
  const containers = await containersOf(t, [
    [500, { message: "database is locked", response: 500 }],
    [200, ended],
  ]);
  await t.rejects(containers.inspect("c"), { message: /database is locked/ });
});

t.test("a failure that stays is told in the end", async (t) => {
  const containers = await containersOf(t, [[500, gone]]);
  await t.rejects(containers.inspect("c"), { message: /no such process/ });
});
