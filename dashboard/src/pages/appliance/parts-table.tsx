import type { HostReply } from "@resontech/contracts/http-appliance";
import { bytes } from "../../ui/bytes.ts";
import { Ago, At } from "../../ui/instant.tsx";
import { State } from "../../ui/state.tsx";
import { Table } from "../../ui/table.tsx";
import { partWord } from "./part-word.ts";
import styles from "./appliance.module.css";

type PartRow = HostReply["parts"][number];

export function PartsTable({ parts }: { parts: readonly PartRow[] }) {
  return (
    <Table
      caption="Parts of the appliance"
      rows={parts}
      keyOf={({ part }) => part}
      columns={[
        {
          title: "State",
          narrow: "below",
          of: ({ phase, isHeld }) => <State of={partWord(phase, isHeld)} />,
        },
        { title: "Part", narrow: "main", of: ({ part }) => <code>{part}</code> },
        { title: "Version", of: ({ version }) => version },
        {
          title: "Memory",
          narrow: "below",
          of: ({ memoryBytes }) => (memoryBytes === null ? "–" : bytes(memoryBytes)),
          isNumber: true,
        },
        { title: "Restarts", of: ({ restarts }) => restarts, isNumber: true },
        { title: "Since", of: ({ since }) => (since === null ? "–" : <Ago at={since} />) },
        { title: "Ended last by", of: ({ lastExit }) => lastExit ?? "–" },
        { title: "Last lines", of: (part) => <LastLines of={part} /> },
      ]}
    />
  );
}

/** Engines write what only root may read: the command shows it. */
function LastLines({ of: { part, lines } }: { of: PartRow }) {
  if (lines.length === 0) return <code>appliance logs {part}</code>;
  return (
    <details>
      <summary>{lines.at(-1)?.text}</summary>
      <ol className={styles["lines"]}>
        {lines.map(({ at, level, text }, number) => (
          <li key={`${at} ${number}`}>
            <At at={at} /> <strong>{level}</strong> {text}
          </li>
        ))}
      </ol>
    </details>
  );
}
