import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parseTopology } from "../../src/decisions/gpu-topology.ts";

/** Of a machine with H200s, as its owner published it; four of its eight devices and one of its network cards. */
const recorded = [
  "\u001b[4m\tGPU0\tGPU1\tGPU4\tGPU5\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u001b[0m",
  "GPU0\t X \tNV18\tNV18\tNV18\tNODE\t0-63,128-191\t0\t\tN/A",
  "GPU1\tNV18\t X \tNV18\tNV18\tNODE\t0-63,128-191\t0\t\tN/A",
  "GPU4\tNV18\tNV18\t X \tNV18\tSYS\t64-127,192-255\t1\t\tN/A",
  "GPU5\tNV18\tNV18\tNV18\t X \tSYS\t64-127,192-255\t1\t\tN/A",
  "NIC0\tNODE\tNODE\tSYS\tSYS\t X \t\t\t\t",
  "",
  "Legend:",
  "  X    = Self",
].join("\n");

t.test("each pair of devices is told once, network cards are none", (t) => {
  const pairs = parseTopology(recorded);
  t.equal(pairs.length, 6);
  t.strictSame(pairs[0], { from: 0, to: 1, link: "NV18" });
  t.strictSame(parseTopology(recorded.replace("X \tNV18", "X \tSYS"))[0]?.link, "SYS");
  t.end();
});

t.test("one device has no pairs, and what is no matrix has none", (t) => {
  const one = join(import.meta.dirname, "../probes/fixtures/h100-topology.txt");
  t.strictSame(parseTopology(readFileSync(one, "utf8")), []);
  for (const text of ["", "NVIDIA-SMI has failed", "\tGPU0\tGPU1\nGPU0\t X \t<script>\n"])
    t.strictSame(parseTopology(text), []);
  t.end();
});
