import t from "tap";
import { evaluateMounts } from "../../src/mounts/evaluate-mounts.ts";

const judge = (...points: string[]) =>
  evaluateMounts(points, "/opt/rt", ["data", "log"], ["s3", "agent", "podman"]);

t.test(
  "what the engines mounted is the appliance's, in the order in which it was mounted",
  async (t) => {
    const own = ["/opt/rt/data/agent/members/m1/disk", "/opt/rt/data/podman/overlay/x/merged"];
    t.same(judge(...own), { own, disks: [], foreign: [] });
  },
);

t.test("a disk under a folder of the appliance is the operator's", async (t) => {
  for (const point of ["/opt/rt/data/s3", "/opt/rt/data/agent", "/opt/rt/log", "/opt/rt/data"])
    t.same(judge(point), { own: [], disks: [point], foreign: [] }, point);
});

t.test("anything else below the root is somebody else's", async (t) => {
  for (const point of [
    "/opt/rt/backup",
    "/opt/rt/data/s3/old",
    "/opt/rt/data/others",
    "/opt/rt/x/y",
  ])
    t.same(judge(point), { own: [], disks: [], foreign: [point] }, point);
});

t.test("what is not below the root is nobody's business", async (t) => {
  t.same(judge("/", "/opt", "/opt/rt", "/opt/rt2/data/s3", "/proc"), {
    ...{ own: [], disks: [], foreign: [] },
  });
});
