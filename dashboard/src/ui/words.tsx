import { Fragment } from "react";

/** A sentence in which what stands between backticks is typed as it is. */
export function Words({ text }: { text: string }) {
  return text
    .split("`")
    .map((part, at) =>
      at % 2 === 0 ? <Fragment key={at}>{part}</Fragment> : <code key={at}>{part}</code>,
    );
}
