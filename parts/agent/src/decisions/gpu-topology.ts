/** How NVIDIA's devices of a node reach each other: `nvidia-smi topo -m`. Pure. */
import { stripVTControlCharacters } from "node:util";
import type { Inventory } from "@resontech/contracts/agent-protocol";

type Pair = NonNullable<Inventory["topology"]>[number];

const MAX_PAIRS = 512;
/** `NV18`: that many NVLinks; the others from near to far: one PCIe switch, several, one host bridge, one NUMA node, between nodes. */
const LINK = /^(NV\d{1,3}|PIX|PXB|PHB|NODE|SYS)$/;

/** Each pair of devices once, by their numbers in the matrix; empty for what is no matrix. */
export function parseTopology(text: string): Pair[] {
  // The tool underlines its head even where nobody can see it.
  const lines = stripVTControlCharacters(text).split("\n");
  const head = lines.find((line) => /^\s*GPU0\s/.test(line));
  const names = head?.trim().split(/\s+/) ?? [];
  const count = names.findIndex((name) => !/^GPU\d+$/.test(name));
  const columns = names.slice(0, count < 0 ? names.length : count);
  return lines
    .flatMap((line) => {
      const [name = "", ...cells] = line.trim().split(/\s+/);
      const from = line === head ? -1 : columns.indexOf(name);
      return from < 0 ? [] : columns.flatMap((_, to) => pair(from, to, cells[to] ?? ""));
    })
    .slice(0, MAX_PAIRS);
}

function pair(from: number, to: number, link: string): Pair[] {
  return from < to && LINK.test(link) ? [{ from, to, link }] : [];
}
