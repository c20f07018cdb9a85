/** On texts as kernels write them: version 2 of Debian 12 with systemd, version 1 of a host without. */
import t from "tap";
import {
  controlGroupPlaces,
  readCount,
  cpuMsOfStat,
  cpuMsOfUsage,
  diskBytesOfIoStat,
  limitOf,
  workingSetOf,
} from "../../../../src/substrate/container-host/decisions/control-group.ts";

const ID = "12678a947d6734efcb00e8ea2a27c00076d28c3ef927a7316dd0919592065586";

t.test("in version 2 a container's group is the one of its name, not the one inside", async (t) => {
  const scope = `/machine.slice/libpod-${ID}.scope`;
  for (const path of [scope, `${scope}/container`])
    t.equal(controlGroupPlaces(`0::${path}\n`, ID).unified, scope);
  t.equal(controlGroupPlaces(`0::/system.slice/docker-${ID}.scope\n`, ID).controllers.size, 0);
});

t.test("in version 1 each controller has its own place", async (t) => {
  const text = [
    "9:name=systemd:/libpod_parent",
    `4:memory:/libpod_parent/libpod-${ID}`,
    `2:cpu,cpuacct:/libpod_parent/libpod-${ID}`,
    "0::/",
  ].join("\n");
  const { unified, controllers } = controlGroupPlaces(text, ID);
  t.equal(unified, "/");
  t.equal(controllers.get("memory"), `/libpod_parent/libpod-${ID}`);
  t.equal(controllers.get("cpuacct"), controllers.get("memory"));
  t.equal(controllers.get("blkio"), undefined);
  t.same(controlGroupPlaces("", ID), { unified: null, controllers: new Map() });
});

t.test("processor time is in milliseconds, whichever unit the kernel has", async (t) => {
  t.equal(cpuMsOfStat("usage_usec 77412345\nuser_usec 70000000\nsystem_usec 7412345\n"), 77_412);
  t.equal(cpuMsOfUsage("212251306\n"), 212);
  t.equal(cpuMsOfStat(""), null);
  t.equal(cpuMsOfUsage("no number"), null);
});

t.test("memory in use is without files that are only cached", async (t) => {
  const of2 = "anon 1785856\nfile 819200\nactive_file 8192\ninactive_file 811008\n";
  const of1 = "inactive_file 0\ntotal_cache 8192\ntotal_inactive_file 4096\n";
  t.equal(workingSetOf(2_000_000, of2), 1_188_992);
  t.equal(workingSetOf(2_000_000, of1), 1_995_904, "of what lies below the group too");
  t.equal(workingSetOf(2_000_000, ""), 2_000_000);
  t.equal(workingSetOf(1, of2), 0);
  t.equal(workingSetOf(null, of2), null);
});

t.test("no limit is no number", async (t) => {
  t.equal(limitOf("4739342336\n"), 4_739_342_336);
  t.equal(limitOf("max\n"), null);
  t.equal(limitOf("9223372036854771712\n"), null);
  t.equal(readCount(""), null);
});

t.test("bytes of a member's own disk count once", async (t) => {
  const older =
    "7:0 rbytes=1000 wbytes=5000 rios=1 wios=2 dbytes=0 dios=0\n8:0 rbytes=300 wbytes=0\n";
  t.same(diskBytesOfIoStat(older), { read: 1000, written: 5000 });
  const newer = "7:0 rbytes=1000 wbytes=5000 rios=1\n8:0 rbytes=1300 wbytes=5100 rios=4\n";
  t.same(diskBytesOfIoStat(newer), { read: 1300, written: 5100 });
  t.same(diskBytesOfIoStat(""), { read: 0, written: 0 }, "nothing was read yet");
});
