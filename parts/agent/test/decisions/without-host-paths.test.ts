import t from "tap";
import { withoutHostPaths } from "../../src/decisions/without-host-paths.ts";

const ROOTS = ["/srv/resontech/data/agent", "/srv/resontech"];
const CASES: [text: string, expected: string][] = [
  ["ENOSPC: no space left on device, write", "ENOSPC: no space left on device, write"],
  [
    "ENOENT: no such file, open '/srv/resontech/data/agent/members/m-1/job/spec.json'",
    "ENOENT: no such file, open 'spec.json'",
  ],
  ["mount /srv/resontech/data/agent/members/m-1/disk.img: failed", "mount disk.img: failed"],
  ["/srv/resontech/data/agent is full", "the node's folder is full"],
  ["in the container: /app/out/model.pt", "in the container: /app/out/model.pt"],
  ["/srv/resontech/current/bin/x and /srv/resontech/data/agent/y/", "x and y"],
];

for (const [text, expected] of CASES) t.equal(withoutHostPaths(text, ROOTS), expected);
