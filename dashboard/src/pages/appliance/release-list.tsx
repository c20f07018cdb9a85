import type { HostReply } from "@resontech/contracts/http-appliance";
import { At } from "../../ui/instant.tsx";
import { Table } from "../../ui/table.tsx";

export function ReleaseList({ releases }: { releases: HostReply["releases"] }) {
  return (
    <Table
      caption="Releases on this host"
      rows={releases}
      keyOf={({ version, since }) => `${version} ${since}`}
      columns={[
        { title: "Release", of: ({ version }) => version },
        { title: "Is", of: ({ isCurrent }) => (isCurrent ? "running" : "kept") },
        { title: "Since", of: ({ since }) => <At at={since} /> },
      ]}
    />
  );
}
