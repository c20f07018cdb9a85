import styles from "./word-choice.module.css";

/** One of a few words; the one that holds is pressed. */
export function WordChoice<T extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  label: string;
  options: readonly T[];
  chosen: T;
  onChoose: (option: T) => void;
}) {
  return (
    <div role="group" aria-label={label} className={styles["choice"]}>
      {options.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === chosen}
          className={styles["option"]}
          onClick={() => onChoose(option)}
        >
          {option}
        </button>
      ))}
    </div>
  );
}
