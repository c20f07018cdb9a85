import { Field } from "../../ui/field.tsx";
import { type AskedPeriod, dayOf, isPreset, PRESETS, withDay } from "./period.ts";
import styles from "./audit.module.css";

/** First and last day of an answer, and the periods that people mean most. */
export function PeriodFields({
  period,
  onChange,
}: {
  period: AskedPeriod;
  onChange: (period: AskedPeriod) => void;
}) {
  return (
    <div className={styles["period"]}>
      <Field label="First day">
        <input
          type="date"
          value={dayOf(period.from)}
          onChange={({ target }) => onChange(withDay(period, "from", target.value))}
        />
      </Field>
      <Field label="Last day">
        <input
          type="date"
          value={dayOf(period.to)}
          onChange={({ target }) => onChange(withDay(period, "to", target.value))}
        />
      </Field>
      <div role="group" aria-label="Period" className={`${styles["presets"]} ${styles["beside"]}`}>
        {PRESETS.map(([title, preset]) => (
          <button
            key={title}
            type="button"
            aria-pressed={isPreset(period, preset)}
            onClick={() => onChange(preset)}
          >
            {title}
          </button>
        ))}
      </div>
    </div>
  );
}
