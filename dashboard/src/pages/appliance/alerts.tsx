import type { HostReply } from "@resontech/contracts/http-appliance";
import { Ago } from "../../ui/instant.tsx";
import { State } from "../../ui/state.tsx";
import { Table } from "../../ui/table.tsx";

export function Alerts({ alerts }: { alerts: HostReply["alerts"] }) {
  if (alerts === null) return <p>The notifier does not say which alerts hold.</p>;
  if (alerts.length === 0)
    return (
      <p>
        <State of={{ word: "No alert holds", tone: "good", shape: "tick" }} />
      </p>
    );
  return (
    <Table
      caption="Alerts that hold now"
      rows={alerts}
      keyOf={({ alert, summary }) => `${alert} ${summary}`}
      columns={[
        {
          title: "Severity",
          of: ({ severity }) => (
            <State
              of={
                severity === "critical"
                  ? { word: "critical", tone: "bad", shape: "cross" }
                  : { word: "warning", tone: "wait", shape: "half" }
              }
            />
          ),
        },
        { title: "What", of: ({ summary }) => summary },
        { title: "Since", of: ({ since }) => <Ago at={since} /> },
        { title: "First", of: ({ todo }) => todo },
        { title: "Runbook", of: ({ runbook }) => <code>{runbook}</code> },
      ]}
    />
  );
}
