import { Table } from "../../ui/table.tsx";

/** What only the host's root does: no way leads from the coordinator to root. */
const COMMANDS = [
  {
    what: "Restart one part",
    command: "sudo appliance restart PART",
    cost: "seconds; running jobs go on",
  },
  {
    what: "Gather a bundle for the vendor",
    command: "sudo appliance support-bundle FILE",
    cost: "about a minute; names and secrets are hidden",
  },
  {
    what: "Take a backup now",
    command: "sudo appliance backup take TARGET",
    cost: "some minutes; nothing stops",
  },
  {
    what: "Check a backup by a drill",
    command: "sudo appliance restore TARGET --drill",
    cost: "some minutes; nothing changes",
  },
  {
    what: "Take a node out",
    command: "sudo appliance node remove NODE",
    cost: "its jobs move first; it comes back only by a new join",
  },
  {
    what: "Return to the release before",
    command: "sudo appliance rollback",
    cost: "about a minute; the API is away for some 10 s, jobs go on",
  },
] as const;

export function HostCommands() {
  return (
    <Table
      caption="Commands on the host"
      rows={COMMANDS}
      keyOf={({ command }) => command}
      columns={[
        { title: "To", of: ({ what }) => what },
        { title: "Run on the host", of: ({ command }) => <code>{command}</code> },
        { title: "Takes", of: ({ cost }) => cost },
      ]}
    />
  );
}
