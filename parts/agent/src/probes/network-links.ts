import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Inventory } from "@resontech/contracts/agent-protocol";

type Link = NonNullable<Inventory["links"]>[number];

const MAX_LINKS = 64;
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Links of real network devices that are up and say how fast they are, by name. */
export function readLinks(sysfs = "/sys"): Link[] {
  return [...ethernet(sysfs), ...infiniband(sysfs)]
    .filter(({ name }) => NAME.test(name))
    .slice(0, MAX_LINKS);
}

/** A bridge or a container's end has no device of its own. A virtual machine's card may say -1: not known. */
function ethernet(sysfs: string): Link[] {
  const folder = join(sysfs, "class/net");
  return namesIn(folder).flatMap((name) => {
    const megabits = Number(textOf(join(folder, name, "speed")));
    const isReal = existsSync(join(folder, name, "device"));
    const isUp = textOf(join(folder, name, "operstate")) === "up";
    // Type 32 is InfiniBand: its ports tell the true rate.
    const isInfiniband = textOf(join(folder, name, "type")) === "32";
    return isReal && isUp && !isInfiniband && Number.isInteger(megabits) && megabits > 0
      ? [{ name, kind: "ethernet" as const, megabits }]
      : [];
  });
}

/** A port's rate is text: `100 Gb/sec (4X EDR)`. */
function infiniband(sysfs: string): Link[] {
  const folder = join(sysfs, "class/infiniband");
  return namesIn(folder).flatMap((name) =>
    namesIn(join(folder, name, "ports")).flatMap((port) => {
      const files = join(folder, name, "ports", port);
      const gigabits = /^(\d+(?:\.\d+)?) Gb\/sec/.exec(textOf(join(files, "rate")))?.[1];
      const isUsable =
        textOf(join(files, "state")).includes("ACTIVE") &&
        textOf(join(files, "link_layer")) === "InfiniBand";
      return isUsable && gigabits !== undefined
        ? [
            {
              name: `${name}.${port}`,
              kind: "infiniband" as const,
              megabits: Number(gigabits) * 1000,
            },
          ]
        : [];
    }),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "";
  }
}
