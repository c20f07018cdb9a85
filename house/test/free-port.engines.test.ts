import { execFileSync } from "node:child_process";
import t from "tap";
import { freePort, freePorts } from "../src/network/free-port.ts";

t.test("no port is given twice, and none that a connection may be given", async (t) => {
  const ports = await Promise.all(Array.from({ length: 60 }, () => freePort()));
  t.equal(new Set(ports).size, ports.length);
  t.ok(ports.every((port) => port > 1_024 && port < 32_768));
});

t.test("what one process has, another is not given before that has ended", async (t) => {
  const module = import.meta.resolve("@resontech/house/free-port");
  const others = (): number[] =>
    JSON.parse(
      execFileSync(process.execPath, [
        ...["--input-type=module", "--eval"],
        `import { freePort, freePorts } from ${JSON.stringify(module)};
         const all = [];
         for (let n = 0; n < 300; n++) all.push(await freePort());
         for (let n = 0; n < 20; n++) all.push((await freePorts(20)).from);
         process.stdout.write(JSON.stringify(all));`,
      ]).toString(),
    ) as number[];
  const mine = [...(await Promise.all(Array.from({ length: 100 }, () => freePort())))];
  for (let n = 0; n < 5; n++) mine.push((await freePorts(20)).from);
  t.same(
    others().filter((port) => mine.includes(port)),
    [],
  );
  t.equal(others().length, 320, "those of a process that has ended are there again");
});

t.test("more ports in a row than there are is a mistake of the caller", async (t) => {
  await t.rejects(freePorts(1_000), RangeError);
});
