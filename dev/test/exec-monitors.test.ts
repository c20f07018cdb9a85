import t from "tap";
import { isExecMonitor } from "../tests/exec-monitors.ts";

const CONTAINER = "e7daa88bac54123ae95012dce14801df3e9b5ad6b6206b680054a06a6be5f3c1";
const monitor = (session: string) =>
  `/usr/bin/conmon --api-version 1 -c ${CONTAINER} -u ${session}`.slice(0, 120);

t.test("the monitor of a program in a container is told from the container's own", async (t) => {
  t.ok(isExecMonitor(monitor("68b942e4013506bfa1c5f2be")));
  t.notOk(isExecMonitor(monitor(CONTAINER)), "a container that was left is a fault");
  t.notOk(isExecMonitor(`sleep 60 -c ${CONTAINER} -u 68b9`));
  t.notOk(isExecMonitor("/usr/bin/conmon --version"));
});
