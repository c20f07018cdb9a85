import t from "tap";
import { gradeOf, type HostFacts } from "../../src/decisions/supported-hardware.ts";

const GIB = 1024 ** 3;
const host: HostFacts = {
  ...{ memoryBytes: 128 * GIB, diskBytes: 200e9, isNvme: true, megabits: 10_000 },
};
const device = { memoryBytes: 24_564 * 1024 ** 2, vendor: "nvidia", cuda: "12.8" } as const;

t.test("the grades are those of the product's requirements", (t) => {
  t.strictSame(gradeOf(device, host), { grade: "recommended", shortOf: [] });
  t.strictSame(gradeOf({ ...device, memoryBytes: 11_264 * 1024 ** 2 }, host), {
    grade: "least",
    shortOf: ["12 GB of device memory, not 24"],
  });
  t.strictSame(
    gradeOf(
      { ...device, memoryBytes: 4 * GIB, cuda: "11.7" },
      { memoryBytes: 16 * GIB, diskBytes: 50e9, isNvme: false, megabits: 10 },
    ),
    {
      grade: "unverified",
      shortOf: [
        "4 GB of device memory, not 8",
        "17 GB of memory, not 32",
        "50 GB of disk, not 100",
        "a network of 10 Mbit/s, not 100",
        "its data is not on an NVMe disk",
        "CUDA 11.7 is older than 11.8: a newer driver is needed",
      ],
    },
  );
  t.end();
});

t.test("a machine of 32 GB, of which the kernel keeps some, has the least", (t) => {
  t.equal(gradeOf(device, { ...host, memoryBytes: 31.2e9 }).grade, "least");
  t.equal(gradeOf(device, { ...host, memoryBytes: 30e9 }).grade, "unverified");
  t.end();
});

t.test("what is not known is held against nobody", (t) => {
  const unknown = { ...host, isNvme: null, megabits: null };
  t.equal(
    gradeOf({ memoryBytes: device.memoryBytes, vendor: "amd" }, unknown).grade,
    "recommended",
  );
  t.equal(gradeOf({ ...device, cuda: "13.0" }, host).grade, "recommended");
  t.equal(gradeOf({ ...device, cuda: "11.8" }, host).grade, "recommended");
  t.end();
});
