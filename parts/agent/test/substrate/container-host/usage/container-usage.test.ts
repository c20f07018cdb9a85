import t from "tap";
import { ContainerUsage } from "../../../../src/substrate/container-host/usage/container-usage.ts";

const ID = "12678a947d67";
const NETWORK = [
  "Inter-|   Receive                |  Transmit",
  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets",
  "    lo:     500       5    0    0    0     0          0         0      500       5",
  "  eth0:   30861     587    0    0    0     0          0        12 33632357    1129",
].join("\n");

t.test("of version 2 all is told that the kernel says", async (t) => {
  const folder = `machine.slice/libpod-${ID}.scope`;
  const kernel = t.testdir({
    proc: { 41: { cgroup: `0::/${folder}/container\n`, net: { dev: NETWORK } } },
    cgroups: {
      "machine.slice": {
        [`libpod-${ID}.scope`]: {
          "cpu.stat": "usage_usec 5000000\n",
          ...{ "memory.current": "2000\n", "memory.stat": "inactive_file 500\n" },
          ...{ "memory.peak": "3000\n", "memory.max": "4000\n" },
          "io.stat": "7:0 rbytes=10 wbytes=20\n",
        },
      },
    },
  });
  const usage = new ContainerUsage(41, ID, {
    ...{ procfs: `${kernel}/proc`, cgroups: `${kernel}/cgroups` },
  });
  t.same(usage.read(), {
    ...{ cpuMs: 5_000, memoryBytes: 1_500, memoryPeakBytes: 3_000, memoryLimitBytes: 4_000 },
    ...{ diskReadBytes: 10, diskWrittenBytes: 20 },
    ...{ networkReceivedBytes: 30_861, networkSentBytes: 33_632_357 },
  });
  t.equal(usage.memoryBytes(), 2_000);
});

t.test("of version 1 too, and what it does not say is absent", async (t) => {
  const kernel = t.testdir({
    proc: { 41: { cgroup: `4:memory:/p/libpod-${ID}\n2:cpuacct:/p/libpod-${ID}\n0::/\n` } },
    cgroups: {
      memory: {
        p: {
          [`libpod-${ID}`]: {
            ...{ "memory.usage_in_bytes": "2000\n", "memory.stat": "total_inactive_file 500\n" },
            ...{ "memory.max_usage_in_bytes": "3000\n" },
            "memory.limit_in_bytes": "9223372036854771712\n",
          },
        },
      },
      cpuacct: { p: { [`libpod-${ID}`]: { "cpuacct.usage": "7000000\n" } } },
    },
  });
  const usage = new ContainerUsage(41, ID, {
    ...{ procfs: `${kernel}/proc`, cgroups: `${kernel}/cgroups` },
  });
  t.strictSame(usage.read(), { cpuMs: 7, memoryBytes: 1_500, memoryPeakBytes: 3_000 });
});

t.test("a look costs less than a millisecond of a processor", async (t) => {
  // This process' own groups: as many files, of the real kernel.
  const usage = new ContainerUsage(process.pid, ID);
  t.ok(Object.keys(usage.read()).length > 0);
  const looks = 200;
  const before = process.cpuUsage();
  for (let look = 0; look < looks; look += 1) usage.read();
  const { user, system } = process.cpuUsage(before);
  t.ok((user + system) / 1_000 < looks, `${(user + system) / looks} µs each`);
});

t.test("of a container that is gone nothing is told", async (t) => {
  const nowhere = t.testdir({});
  const usage = new ContainerUsage(41, ID, { procfs: nowhere, cgroups: nowhere });
  t.strictSame(usage.read(), {});
  t.equal(usage.memoryBytes(), null);
});
