import t from "tap";
import { parameterCount } from "../../../../src/workloads/distributed/decisions/parameter-count.ts";

t.test("a count of parameters is read as people write it", async (t) => {
  const counts: [string, number][] = [
    ["7b", 7e9],
    ["1.3B", 1.3e9],
    ["350m", 350e6],
    ["124M", 124e6],
    ["1t", 1e12],
    ["7000000000", 7e9],
    ["0.001k", 1],
    [" 13b ", 13e9],
    ["100t", 1e14],
  ];
  for (const [written, count] of counts) t.equal(parameterCount(written), count, written);
});

t.test("what is no count of parameters is none", async (t) => {
  const wrong = ["", "b", "7x", "-7b", "0", "0b", "1.5", "7 b", "7bb", "1e9", "NaN", "101t", "٧b"];
  for (const written of wrong) t.equal(parameterCount(written), null, JSON.stringify(written));
});
