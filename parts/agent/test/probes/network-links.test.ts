import { statfsSync } from "node:fs";
import t from "tap";
import { readDataDisk } from "../../src/probes/data-disk.ts";
import { readLinks } from "../../src/probes/network-links.ts";

const port = (state: string, layer = "InfiniBand") => ({
  "1": { rate: "400 Gb/sec (4X NDR)\n", state: `${state}\n`, link_layer: `${layer}\n` },
});
const card = (speed: string, operstate = "up") => ({
  ...{ speed: `${speed}\n`, operstate: `${operstate}\n`, type: "1\n", device: {} },
});

t.test("real links that are up say their speed", (t) => {
  const sysfs = t.testdir({
    class: {
      net: {
        eno1: card("10000"),
        eno2: card("1000", "down"),
        ens5: card("-1"),
        ib0: { ...card("400000"), type: "32\n" },
        "br-1": { speed: "10000\n", operstate: "up\n", type: "1\n" },
      },
      infiniband: {
        mlx5_0: { ports: port("4: ACTIVE") },
        mlx5_1: { ports: port("1: DOWN") },
        mlx5_2: { ports: port("4: ACTIVE", "Ethernet") },
      },
    },
  });
  t.strictSame(readLinks(sysfs), [
    { name: "eno1", kind: "ethernet", megabits: 10_000 },
    { name: "mlx5_0.1", kind: "infiniband", megabits: 400_000 },
  ]);
  t.strictSame(readLinks(t.testdir({})), []);
  t.end();
});

t.test("the data's disk is sized whole; what is beneath is not guessed", (t) => {
  const dir = t.testdir({});
  const { blocks, bsize } = statfsSync(dir);
  t.strictSame(readDataDisk(dir, t.testdir({})), { diskBytes: blocks * bsize, isNvme: null });
  t.end();
});
