import type { HostReply } from "@resontech/contracts/http-appliance";
import { asProblem } from "../../api/problem.ts";
import { Ago, At, Lasted } from "../../ui/instant.tsx";
import { State } from "../../ui/state.tsx";
import type { StateWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";
import { Words } from "../../ui/words.tsx";
import { Runbook } from "./runbook.tsx";
import { usePastAlerts } from "./use-host-history.ts";
import styles from "./appliance.module.css";

const severityWord = (severity: string): StateWord =>
  severity === "critical"
    ? { word: "critical", tone: "bad", shape: "cross" }
    : { word: "warning", tone: "wait", shape: "half" };

/** Those that hold now, each with what to do. */
export function Alerts({ alerts }: { alerts: HostReply["alerts"] }) {
  if (alerts === null) return <p>The notifier does not say which alerts hold.</p>;
  if (alerts.length === 0)
    return (
      <p>
        <State of={{ word: "No alert holds", tone: "good", shape: "tick" }} />
      </p>
    );
  return (
    <ul className={styles["findings"]}>
      {alerts.map(({ alert, severity, summary, since, todo, runbook }) => (
        <li key={`${alert} ${summary}`}>
          <State of={severityWord(severity)} />
          <span>
            {summary} <Ago at={since} />
          </span>
          <span className={styles["todo"]}>
            <Words text={todo} />
            <Runbook name={runbook} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Those that held, the last first. */
export function PastAlerts() {
  const past = usePastAlerts();
  if (past.isPending) return null;
  if (past.isError)
    return (
      <p className={styles["quiet"]}>
        Earlier alerts are not known: {asProblem(past.error).message}.
      </p>
    );
  const { alerts, keptDays, withinS } = past.data;
  if (alerts.length === 0) return <p>No alert held in the last {keptDays} days.</p>;
  return (
    <>
      <Table
        caption={`Alerts of the last ${keptDays} days`}
        rows={alerts}
        keyOf={({ alert, about, from }) => `${alert} ${about} ${from}`}
        columns={[
          {
            title: "Severity",
            narrow: "below",
            of: ({ severity }) => <State of={severityWord(severity)} />,
            by: ({ severity }) => severity,
          },
          { title: "Alert", narrow: "main", of: ({ alert }) => alert, by: ({ alert }) => alert },
          {
            title: "About",
            narrow: "below",
            of: ({ about }) => about || "the appliance",
            by: ({ about }) => about,
          },
          { title: "From", of: ({ from }) => <At at={from} />, by: ({ from }) => from },
          {
            title: "Held",
            of: ({ from, to }) => (
              <>
                <Lasted from={from} to={to} />
                {to === null ? ", and holds" : ""}
              </>
            ),
          },
        ]}
      />
      <p className={styles["quiet"]}>
        Beginnings and ends are right within {withinS} s. What is older than {keptDays} days is
        gone.
      </p>
    </>
  );
}
