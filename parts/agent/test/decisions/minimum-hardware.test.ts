import { KERNEL_FEATURES, oldestKernel } from "@resontech/contracts/kernel-features";
import t from "tap";
import { missingHardware, type NodeFacts } from "../../src/decisions/minimum-hardware.ts";

const GIB = 1024 ** 3;
const fit: NodeFacts = {
  memoryBytes: 8 * GIB,
  diskFreeBytes: 100 * GIB,
  kernel: "6.1.0-18-amd64",
  cgroup: 2,
  architecture: "x64",
  isRoot: true,
  programs: { mount: true },
  hasLoopDevices: true,
  hasMemoryLimits: true,
};

t.test("a node that has everything lacks nothing", async (t) => {
  t.same(missingHardware(fit, true), []);
});

const UNFIT: readonly (readonly [change: Partial<NodeFacts>, sentence: RegExp])[] = [
  [{ architecture: "arm64" }, /processor is arm64/],
  [
    { kernel: "5.1.21" },
    /kernel is 5\.1\.21; 5\.2 or newer is needed, for the freezer of control groups version 2, since 5\.2$/,
  ],
  [
    { kernel: "4.17.0", cgroup: 1 },
    /4\.18 or newer is needed, for what Node 26 is built for, since 4\.18$/,
  ],
  [{ memoryBytes: GIB }, /1\.0 GiB of memory/],
  [{ diskFreeBytes: GIB }, /1\.0 GiB are free/],
  [{ isRoot: false }, /does not run as root/],
  [{ hasLoopDevices: false }, /loop/],
  [{ hasMemoryLimits: false }, /memory controller/],
  [{ programs: { nft: false } }, /nft is not installed/],
];
for (const [change, sentence] of UNFIT) {
  t.test(`a node with ${JSON.stringify(change)} is told what to do`, async (t) => {
    const missing = missingHardware({ ...fit, ...change }, true);
    t.equal(missing.length, 1);
    t.match(missing[0], sentence);
  });
}

t.test("a node that has joined may have less room: its jobs took it", async (t) => {
  t.same(missingHardware({ ...fit, diskFreeBytes: GIB }, false), []);
});

t.test("RHEL 8's kernel is new enough with the control groups that it has", async (t) => {
  t.same(missingHardware({ ...fit, kernel: "4.18.0-553.el8_10.x86_64", cgroup: 1 }, true), []);
});

t.test(
  "every feature says who uses it and who says since when; the newest of them is the limit",
  async (t) => {
    for (const { feature, usedBy, source } of KERNEL_FEATURES) {
      t.ok(usedBy.length > 10, feature);
      t.match(source, /^https:\/\//);
    }
    t.equal(oldestKernel(1), "4.18");
    t.equal(oldestKernel(2), "5.2");
  },
);
