/** That a part runs and answers: the same of each. Pure. */
import { fault, type Finding, warning } from "@resontech/frame/finding";
import type { PartStatus } from "../../supervisor/supervisor.ts";

export function partFinding(
  { name, phase, isHeld, lastExit, restarts }: PartStatus,
  log: string,
): Finding | null {
  const at = `the end of ${log}`;
  if (isHeld)
    return warning(
      "part_stopped",
      `${name} was stopped by the operator`,
      `start it: appliance start ${name}`,
    );
  switch (phase) {
    case "healthy":
      return restarts >= 3
        ? warning(
            "part_restarts",
            `${name} has ended ${restarts} times (${lastExit ?? "?"})`,
            `look at ${at}`,
          )
        : null;
    case "unhealthy":
      return fault(
        "part_silent",
        `${name} runs and does not answer`,
        `it is started afresh after a minute; look at ${at}`,
      );
    case "exited":
      return fault(
        "part_down",
        `${name} has ended (${lastExit ?? "?"})`,
        `it is started again by itself; look at ${at}`,
      );
    case "idle":
    case "starting":
    case "stopping":
      return warning(
        "part_not_ready",
        `${name} is ${phase === "idle" ? "waiting for others" : phase}`,
        "wait; ask again in a minute",
      );
  }
}
