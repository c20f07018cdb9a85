import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel, Row } from "../../ui/panel.tsx";
import styles from "./call-it.module.css";
import { Chat } from "./chat/chat.tsx";
import { Embed } from "./embed.tsx";
import { heldKey } from "./held-keys.ts";
import { KeyField } from "./key-field.tsx";
import { type Answered, predict } from "./predict.ts";
import { curlSnippet, ownSnippet, pythonSnippet } from "./snippets.ts";

/** Tries the deployment here, and says how a program calls it. */
export function CallIt({ deployment }: { deployment: DeploymentReply }) {
  if (deployment.task === "generate") return <Chat deployment={deployment} />;
  if (deployment.task === "embed") return <Embed deployment={deployment} />;
  if (deployment.api === "own")
    return (
      <Panel title="From a program">
        <p>This is a program of your own: it answers at its own paths below the endpoint.</p>
        <Snippet id="curl" title="A shell" text={ownSnippet(deployment.endpoint)} />
      </Panel>
    );
  return (
    <>
      <Playground id={deployment.id} />
      <Panel title="From a program">
        <p>
          A program has the key in <code>RESON_INFERENCE_API_KEY</code>. In a command line everybody
          on the host could read it.
        </p>
        <Snippet id="curl" title="A shell" text={curlSnippet(deployment.endpoint)} />
        <Snippet id="python" title="Python" text={pythonSnippet(deployment.endpoint)} />
      </Panel>
    </>
  );
}

function Snippet({ id, title, text }: { id: string; title: string; text: string }) {
  return (
    <>
      <h3 className={styles["title"]}>{title}</h3>
      <pre id={id} className={styles["code"]} tabIndex={0}>
        {text}
      </pre>
      <Row>
        <Copy text={text} from={id} label={`Copy it for ${title.toLowerCase()}`} />
      </Row>
    </>
  );
}

/** The key stays in this part of the page: nothing keeps it. */
function Playground({ id }: { id: string }) {
  const [key, setKey] = useState(() => heldKey(id));
  const [what, setWhat] = useState<"text" | "file">("text");
  const [text, setText] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const [answered, setAnswered] = useState<Answered | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [call, setCall] = useState<AbortController | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const body = what === "text" ? new Blob([text]) : file;
  const send = async () => {
    if (body === null) return;
    const own = new AbortController();
    running.current = own;
    setCall(own);
    setError(null);
    setAnswered(null);
    try {
      setAnswered(await predict(id, { key: key.trim(), body, signal: own.signal }));
    } catch (failed) {
      if (!own.signal.aborted) setError(failed);
    } finally {
      setCall(null);
    }
  };
  return (
    <Panel title="Try it">
      <form
        id="playground"
        className={styles["form"]}
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <KeyField value={key} onChange={setKey} />
        <fieldset className={styles["choice"]}>
          <legend>What to send</legend>
          {(["text", "file"] as const).map((one) => (
            <label key={one}>
              <input
                type="radio"
                name="what"
                value={one}
                checked={what === one}
                onChange={() => setWhat(one)}
              />{" "}
              {one === "text" ? "A text" : "A file"}
            </label>
          ))}
        </fieldset>
        {what === "text" ? (
          <Field label="Text" hint="The predictor gets its bytes, in UTF-8.">
            <textarea rows={4} value={text} onChange={({ target }) => setText(target.value)} />
          </Field>
        ) : (
          <Field label="File" hint="The predictor gets its bytes as they are.">
            <input
              type="file"
              required
              onChange={({ target }) => setFile(target.files?.[0] ?? null)}
            />
          </Field>
        )}
        <Row>
          <Button look="main" type="submit" isDisabled={call !== null || body === null}>
            Send
          </Button>
          {call === null ? null : <Button onPress={() => call.abort()}>Give up</Button>}
          <span role="status">{call === null ? "" : "It thinks."}</span>
        </Row>
      </form>
      {error === null ? null : <Failure error={error} />}
      {answered === null ? null : <Answer {...answered} />}
    </Panel>
  );
}

function Answer({ text, isCut, tookMs, replica }: Answered) {
  return (
    <div role="status">
      <p>
        Answered in {Math.round(tookMs)} ms{replica === null ? "" : ` by ${replica}`}.
        {isCut ? " What is shown is its beginning." : ""}
      </p>
      <pre id="answer" className={styles["code"]} tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
