import type { ApplianceReply } from "@resontech/contracts/http-appliance";
import { Link } from "wouter";
import { State } from "../../ui/state.tsx";
import { Words } from "../../ui/words.tsx";
import { findingLink } from "./finding-link.ts";
import styles from "./appliance.module.css";

export function FindingList({ findings }: { findings: ApplianceReply["findings"] }) {
  if (findings.length === 0)
    return (
      <p>
        <State of={{ word: "Nothing is wrong", tone: "good", shape: "tick" }} />
      </p>
    );
  return (
    <ul className={styles["findings"]}>
      {findings.map(({ severity, code, what, todo }) => {
        const link = findingLink(code);
        return (
          <li key={`${code} ${what}`}>
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
      })}
    </ul>
  );
}
