import t from "tap";
import { mostMemory } from "../../src/pages/submit/most-memory.ts";

const catalogue = [
  { id: "cpu", name: "CPU slot", memoryMb: 3_814, online: 2 },
  { id: "t4", name: "NVIDIA T4", memoryMb: 15_360, online: 1 },
  { id: "h200", name: "NVIDIA H200", memoryMb: 143_771, online: 0 },
];

t.test(
  "a job asks for no more memory than the largest worker has that it may be given",
  async (t) => {
    t.match(mostMemory(catalogue, "cpu"), { memoryMb: 3_814, name: "CPU slot" });
    t.match(mostMemory(catalogue, ""), { id: "t4" });
    t.match(mostMemory(catalogue, "cpu,t4"), { id: "t4" });
  },
);

t.test("where no such worker is there, nobody knows", async (t) => {
  t.equal(mostMemory(catalogue, "h200"), null);
  t.equal(mostMemory([], ""), null);
});
