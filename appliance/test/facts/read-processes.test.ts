import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readProcesses } from "../../src/facts/read-processes.ts";

t.test("this process is told with its parent and its memory", async (t) => {
  const own = readProcesses().find(({ pid }) => pid === process.pid);
  t.equal(own?.parent, process.ppid);
  t.ok((own?.residentBytes ?? 0) > 8 * 1024 ** 2);
});

t.test(
  "threads of the kernel, and what ended meanwhile, are no processes with memory",
  async (t) => {
    const folder = t.testdir();
    const add = (name: string, status: string | null): void => {
      mkdirSync(join(folder, name));
      if (status !== null) writeFileSync(join(folder, name, "status"), status);
    };
    add("2", "Name:\tkthreadd\nPPid:\t0\n");
    add("7", null);
    add("8", "Name:\tx y) (\nPPid:\t1\nVmRSS:\t     12 kB\n");
    writeFileSync(join(folder, "uptime"), "1");
    t.same(readProcesses(folder), [{ pid: 8, parent: 1, residentBytes: 12_288 }]);
  },
);
