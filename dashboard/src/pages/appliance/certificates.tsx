import type { HostReply } from "@resontech/contracts/http-appliance";
import { duration } from "../../ui/instants.ts";
import { State } from "../../ui/state.tsx";
import { Table } from "../../ui/table.tsx";

const DAY_MS = 86_400_000;
/** As `appliance status` warns. */
const SOON_MS = 90 * DAY_MS;

/** Those that end first come first. */
export function Certificates({
  certificates,
  now,
}: {
  certificates: HostReply["certificates"];
  now: number;
}) {
  const leftMs = (expiresAt: string): number => Date.parse(expiresAt) - now;
  return (
    <Table
      caption="Certificates, those that end first"
      rows={certificates.toSorted((a, b) => (a.expiresAt < b.expiresAt ? -1 : 1))}
      keyOf={({ file }) => file}
      columns={[
        {
          title: "Ends in",
          narrow: "below",
          of: ({ expiresAt }) => {
            const left = leftMs(expiresAt);
            if (left <= 0) return <State of={{ word: "ended", tone: "bad", shape: "cross" }} />;
            return (
              <State
                of={
                  left < SOON_MS
                    ? { word: duration(left), tone: "wait", shape: "half" }
                    : { word: duration(left), tone: "good", shape: "tick" }
                }
              />
            );
          },
        },
        { title: "File", narrow: "main", of: ({ file }) => <code>{file}</code> },
        { title: "On", narrow: "below", of: ({ expiresAt }) => expiresAt.slice(0, 10) },
      ]}
    />
  );
}
