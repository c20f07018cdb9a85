/** A node as tables of a terminal. Pure. */
import { NODE_WORDS, whyNoWork } from "@resontech/contracts/node-states";
import { MEMBER_WORDS } from "@resontech/contracts/state-words";
import type { NodeDetailReply, NodeReply } from "@resontech/contracts/http-nodes";

export type Table = { head: string[]; rows: string[][] };

const GIB = 1024 ** 3;

export function tableOfNodes(nodes: readonly NodeReply[]): Table {
  return {
    head: ["NODE", "STATE", "BUSY", "DISK FREE", "HEARD", "TAKES NO WORK BECAUSE"],
    rows: nodes.map((one) => {
      const { node, state, busy, workers, freeBytes, silentS } = one;
      return [
        ...[
          node,
          NODE_WORDS[state],
          `${busy} of ${workers}`,
          freeBytes === null ? "-" : gib(freeBytes),
        ],
        ...[silentS === null ? "not yet" : `${silentS} s ago`, whyNoWork(one) ?? ""],
      ];
    }),
  };
}

/** The node, its workers, and what runs there; without the last two where there is none. */
export function tablesOfNode({ node, workers, members }: NodeDetailReply): Table[] {
  const ofWorkers = {
    head: ["WORKER", "MODEL", "MEMORY", "USE", "DRIVER", "NOT USED BECAUSE"],
    rows: workers.map(({ worker, model, memoryBytes, use, driver, unfit }) => [
      ...[worker, model, memoryBytes === 0 ? "-" : gib(memoryBytes)],
      ...[use?.utilizationPercent === undefined ? "-" : `${Math.round(use.utilizationPercent)} %`],
      ...[driver ?? "-", unfit ?? ""],
    ]),
  };
  const ofMembers = {
    head: ["JOB", "MEMBER", "STATE", "WORKERS"],
    rows: members.map(({ job, role, site, state, workers: held }) => [
      ...[job, site ?? role, MEMBER_WORDS[state], held.join(", ") || "-"],
    ]),
  };
  return [tableOfNodes([node]), ofWorkers, ofMembers].filter(({ rows }) => rows.length > 0);
}

function gib(bytes: number): string {
  return `${(bytes / GIB).toFixed(1)} GiB`;
}
