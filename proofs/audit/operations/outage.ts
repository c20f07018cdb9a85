/** Ways in which auditd is not there for anybody. */
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { untilHealthy } from "@resontech/house/until-healthy";

export type Outage = { name: string; begin: () => Promise<void>; end: () => Promise<void> };

/** @param stopped other parts that are meant to be down */
export function stoppedAuditd(appliance: LocalAppliance, stopped: readonly string[]): Outage {
  return {
    name: "stopped",
    begin: async () => void (await appliance.command(["stop", "auditd"])),
    end: async () => {
      await appliance.command(["start", "auditd"]);
      await untilHealthy(appliance, stopped);
    },
  };
}

/**
 * Its process is there, its sockets take connections and bytes, nobody answers. The supervisor ends it after a minute of that.
 */
export function hungAuditd(appliance: LocalAppliance, stopped: readonly string[]): Outage {
  const pidOf = (): number =>
    appliance.status().parts.find(({ name }) => name === "auditd")?.pid ?? 0;
  let pid = 0;
  return {
    name: "hung",
    begin: async () => {
      pid = pidOf();
      process.kill(pid, "SIGSTOP");
    },
    end: async () => {
      process.kill(pid, "SIGCONT");
      await untilHealthy(appliance, stopped);
      if (pidOf() !== pid)
        throw new Error("auditd was started afresh: it hung for longer than was meant");
    },
  };
}
