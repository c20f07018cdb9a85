import { existsSync } from "node:fs";
import { containerName } from "../parts/container-runner.ts";
import type { PartContext } from "../parts/context.ts";

/** Tells where a part's log is found. Docker keeps the logs of containers by itself. */
export function logOf({ config, layout }: PartContext, part: string): string {
  const file = layout.log(`${part}.log`);
  return config.containerEngine.kind === "docker" && !existsSync(file)
    ? `docker logs ${containerName(layout, part)}`
    : file;
}
