import Anser from "anser";
import styles from "./logs.module.css";

const MAX_CHARACTERS = 4_000;

/** Colours of terminals by class; every other escape of a terminal is left out. */
export function LogLine({ text }: { text: string }) {
  const parts = Anser.ansiToJson(text.slice(0, MAX_CHARACTERS), {
    ...{ use_classes: true, remove_empty: true },
  });
  return (
    <>
      {parts.map(({ content, fg }, at) => (
        // Parts of one line have no other name than their place.
        // oxlint-disable-next-line react/no-array-index-key
        <span key={at} className={fg === null ? undefined : styles[fg]}>
          {content}
        </span>
      ))}
      {text.length > MAX_CHARACTERS ? " […]" : ""}
    </>
  );
}
