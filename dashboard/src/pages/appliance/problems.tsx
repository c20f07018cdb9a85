import { State } from "../../ui/state.tsx";
import type { BoxProblem } from "./problems-of.ts";
import styles from "./appliance.module.css";

export function Problems({ problems }: { problems: readonly BoxProblem[] }) {
  if (problems.length === 0)
    return (
      <p>
        <State of={{ word: "Nothing that the coordinator sees", tone: "good", shape: "tick" }} />
      </p>
    );
  return (
    <ul className={styles["problems"]}>
      {problems.map(({ isFault, what, todo }) => (
        <li key={what}>
          <State
            of={
              isFault
                ? { word: "fault", tone: "bad", shape: "cross" }
                : { word: "warning", tone: "wait", shape: "half" }
            }
          />
          <span>{what}</span>
          <span className={styles["todo"]}>{todo}</span>
        </li>
      ))}
    </ul>
  );
}
