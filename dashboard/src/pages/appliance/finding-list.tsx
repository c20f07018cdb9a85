import { type AlikeFindings, alikeFindings } from "@resontech/contracts/alike-findings";
import type { ApplianceReply } from "@resontech/contracts/http-appliance";
import { useState } from "react";
import { Link } from "wouter";
import { Button } from "../../ui/button.tsx";
import { State } from "../../ui/state.tsx";
import { Words } from "../../ui/words.tsx";
import { findingLink } from "./finding-link.ts";
import styles from "./appliance.module.css";

type Finding = ApplianceReply["findings"][number];

export function FindingList({ findings }: { findings: readonly Finding[] }) {
  if (findings.length === 0)
    return (
      <p>
        <State of={{ word: "Nothing is wrong", tone: "good", shape: "tick" }} />
      </p>
    );
  return (
    <ul className={styles["findings"]}>
      {alikeFindings(findings).map((alike) => (
        <Alike key={alike.code} alike={alike} />
      ))}
    </ul>
  );
}

/** Those of one code: a fleet that is unwell in one way does not bury the rest. */
function Alike({ alike: { code, first, more } }: { alike: AlikeFindings<Finding> }) {
  const [isWhole, setWhole] = useState(false);
  return (
    <>
      {(isWhole ? [...first, ...more] : first).map((finding) => (
        <One key={finding.what} finding={finding} />
      ))}
      {more.length === 0 ? null : (
        <li className={styles["more"]}>
          <Button aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show fewer" : `Show ${more.length} more like these`}
            <span className="unseen"> ({code})</span>
          </Button>
        </li>
      )}
    </>
  );
}

function One({ finding: { severity, code, what, todo } }: { finding: Finding }) {
  const link = findingLink(code);
  return (
    <li>
      <State
        of={
          severity === "fault"
            ? { word: "fault", tone: "bad", shape: "cross" }
            : { word: "warning", tone: "wait", shape: "half" }
        }
      />
      <span>{what}</span>
      <span className={styles["todo"]}>
        <Words text={todo} />
        {link === null ? null : (
          <>
            {" · "}
            <Link to={link.to}>{link.title}</Link>
          </>
        )}
      </span>
    </li>
  );
}
