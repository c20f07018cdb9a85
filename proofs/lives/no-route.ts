/**
 * `install.sh`, a federated job, an upgrade and a rollback, the audit log's verification and the uninstall, all in a network namespace that has a loopback and no
 * route: the bundle and this host are everything that they can reach.
 *
 * `npm run prove -- no-route`
 */
import { execFileSync } from "node:child_process";
import { builtOutside, runInside } from "./network/run-inside.ts";
import { TestReleases } from "./life/test-releases.ts";
import { buildForLife, type LifeBundles, wholeLife } from "./life/whole-life.ts";
import { dial, ELSEWHERE } from "./network/dial.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const inside = builtOutside(args) as LifeBundles | undefined;
  if (inside !== undefined) {
    const routesInside = routes();
    const dialled = await dial(ELSEWHERE);
    progress(`routes: ${routesInside.length}; a dial to ${ELSEWHERE.host}: ${dialled}`);
    const { ok, figures } = await wholeLife(progress, inside);
    return {
      ok: ok && routesInside.length === 0 && dialled === "ENETUNREACH",
      figures: { routes: routesInside.length, dial_elsewhere: dialled, ...figures },
    };
  }

  using releases = new TestReleases();
  const name = `rt-no-route-${process.pid}`;
  execFileSync("ip", ["netns", "add", name]);
  try {
    progress("building two releases, which may use the network");
    const built = await buildForLife(releases);
    execFileSync("ip", ["-netns", name, "link", "set", "lo", "up"]);
    progress(`the rest runs in the network namespace ${name}`);
    // Not `ip netns exec`: it mounts a /sys of its own, which hides the host's cgroups from the container engine.
    const enter = (command: readonly string[]): [string, string[]] => [
      "nsenter",
      [`--net=/run/netns/${name}`, ...command],
    ];
    const { ok, figures } = await runInside("no-route", built, enter);
    return {
      ok: ok && routes().length > 0,
      figures: { ...figures, routes_of_the_host: routes().length },
    };
  } finally {
    execFileSync("ip", ["netns", "delete", name]);
  }
}

/** Of every table, both families; what the kernel keeps for loopback addresses is none. */
function routes(): string[] {
  return ["-4", "-6"]
    .flatMap((family) =>
      execFileSync("ip", [family, "route", "show", "table", "all"], { encoding: "utf8" }).split(
        "\n",
      ),
    )
    .filter((line) => line !== "" && !/\bdev lo\b/.test(line));
}
