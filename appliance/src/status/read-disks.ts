import { existsSync, statfsSync, statSync } from "node:fs";
import { readLogReserve } from "../config/log-reserve.ts";
import type { Layout } from "@resontech/frame/layout";
import type { DiskFacts } from "./decisions/disk-findings.ts";

const AUDIT_LOG = "audit log";

/** The file systems that the appliance writes to, each once, with what of it lies there. */
export function readDisks(layout: Layout): DiskFacts[] {
  const places: [string, string][] = [
    ["database", layout.data("coordinator")],
    [AUDIT_LOG, layout.data("audit")],
    ["objects", layout.data("s3")],
    ["jobs", layout.data("agent")],
    ["identities", layout.data("postgres")],
    ["logs", layout.log("")],
  ];
  const reserve = readLogReserve(layout);
  const there = places.filter(([, path]) => existsSync(path));
  return [...Map.groupBy(there, ([, path]) => statSync(path).dev).values()].map((of) => {
    const path = of.length === places.length ? layout.root : of[0]![1];
    const { bsize, blocks, bavail, files, ffree } = statfsSync(path);
    return {
      ...{
        holds: of.map(([name]) => name),
        path,
        totalBytes: blocks * bsize,
        freeBytes: bavail * bsize,
      },
      ...{ totalInodes: files, freeInodes: ffree },
      logReserve: of.some(([name]) => name === AUDIT_LOG) ? reserve : null,
    };
  });
}
