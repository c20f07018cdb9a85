import { useEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { Copy } from "./copy.tsx";
import { Panel, Row } from "./panel.tsx";
import styles from "./shown-once.module.css";

/** A secret that was made just now: it gets the focus, and goes when the person says so. */
export function ShownOnce({
  id,
  title,
  secret,
  onDone,
}: {
  /** Of the element that holds the secret. */
  id: string;
  title: string;
  secret: string;
  onDone: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1}>
      <Panel title={title}>
        <p>Copy the key now: it is shown this once.</p>
        <p>
          <code id={id} className={styles["secret"]}>
            {secret}
          </code>
        </p>
        <Row>
          <Copy text={secret} from={id} label="Copy the key" look="main" />
          <Button onPress={onDone}>I have it</Button>
        </Row>
      </Panel>
    </div>
  );
}
