import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { OPENAI_PATH } from "@resontech/contracts/openai-surface";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { WordChoice } from "../../../ui/word-choice.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { countOf } from "../../../ui/count-of.ts";
import { Field } from "../../../ui/field.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Panel, Row } from "../../../ui/panel.tsx";
import { heldKey } from "../held-keys.ts";
import { KeyField } from "../key-field.tsx";
import { type Answer, NO_ANSWER } from "./chat-answer.ts";
import { chatCode, CODE_LANGUAGES } from "./chat-code.ts";
import {
  chatBody,
  type ChatBody,
  type ChatSettings,
  NO_SETTINGS,
  SettingInvalid,
  type Turn,
} from "./chat-request.ts";
import { streamChat } from "./stream-chat.ts";
import styles from "./chat.module.css";

/** What stands in the code before anything was said. */
const EXAMPLE: Turn = { role: "user", text: "Hello" };

/** A conversation with the model, and the same call as code. Key and words stay in this part of the page: nothing keeps them. */
export function Chat({ deployment }: { deployment: DeploymentReply }) {
  const [key, setKey] = useState(() => heldKey(deployment.id));
  const [settings, setSettings] = useState(NO_SETTINGS);
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [draft, setDraft] = useState("");
  const [coming, setComing] = useState<Answer | null>(null);
  const [told, setTold] = useState("");
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const say = async (next: readonly Turn[]) => {
    const own = new AbortController();
    let answer = NO_ANSWER;
    setError(null);
    setTold("");
    try {
      const body = chatBody(deployment.id, next, settings);
      running.current = own;
      setTurns(next);
      setComing(answer);
      const said = await streamChat(
        deployment.id,
        { key: key.trim(), body, signal: own.signal },
        (more) => {
          answer = more;
          setComing(more);
        },
      );
      setTold(timesOf(said));
    } catch (failed) {
      if (own.signal.aborted) setTold("Stopped. What was said until then stays.");
      else setError(failed);
    } finally {
      setComing(null);
      if (answer.text !== "" || answer.toolCalls.length > 0)
        setTurns([...next, { role: "assistant", text: answer.text, toolCalls: answer.toolCalls }]);
    }
  };
  const last = turns.at(-1);
  const asked = last?.role === "assistant" ? last.toolCalls : [];
  return (
    <div className={styles["chat"]}>
      <Panel title="Talk to it">
        <KeyField value={key} onChange={setKey} />
        <Conversation turns={turns} coming={coming} />
        {error === null ? null : error instanceof SettingInvalid ? (
          <p role="alert">{error.message}</p>
        ) : (
          <Failure error={error} />
        )}
        {asked.length > 0 && coming === null ? (
          <ToolResults
            key={turns.length}
            calls={asked}
            isReady={key !== ""}
            onSend={(results) => void say([...turns, ...results])}
          />
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void say([...turns, { role: "user", text: draft }]);
              setDraft("");
            }}
          >
            <Field label="Message" isWide>
              <textarea
                rows={3}
                required
                value={draft}
                onChange={({ target }) => setDraft(target.value)}
                onKeyDown={(event) => {
                  // As chats have it: Enter sends, Shift and Enter is a new line. Whoever composes letters is not done.
                  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing)
                    return;
                  event.preventDefault();
                  event.currentTarget.form?.requestSubmit();
                }}
              />
            </Field>
            <Row>
              <Button look="main" type="submit" isDisabled={coming !== null || key === ""}>
                Send
              </Button>
              {coming === null ? null : (
                <Button onPress={() => running.current?.abort()}>Stop</Button>
              )}
              {turns.length === 0 || coming !== null ? null : (
                <Button
                  look="quiet"
                  onPress={() => {
                    setTurns([]);
                    setTold("");
                    setError(null);
                  }}
                >
                  Begin anew
                </Button>
              )}
              <span role="status">{coming === null ? told : "It answers."}</span>
            </Row>
          </form>
        )}
      </Panel>
      <div className={styles["beside"]}>
        <Settings settings={settings} onChange={setSettings} />
        <SameAsCode
          baseUrl={`${deployment.endpoint}${OPENAI_PATH}`}
          model={deployment.id}
          turns={turns}
          settings={settings}
        />
      </div>
    </div>
  );
}

function timesOf({
  answer,
  firstMs,
  tookMs,
}: {
  answer: Answer;
  firstMs: number;
  tookMs: number;
}): string {
  const { tokens, finish } = answer;
  const speed =
    tokens === null || tokens.completion < 2 || tookMs <= firstMs
      ? null
      : `${((tokens.completion - 1) / ((tookMs - firstMs) / 1000)).toFixed(1)} tokens/s`;
  return [
    `First word after ${Math.round(firstMs)} ms, all after ${(tookMs / 1000).toFixed(1)} s`,
    tokens === null ? null : `${tokens.prompt} tokens in, ${tokens.completion} out`,
    speed,
    finish === "length" ? "cut at the limit of tokens" : null,
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

function Conversation({ turns, coming }: { turns: readonly Turn[]; coming: Answer | null }) {
  if (turns.length === 0 && coming === null)
    return <p className={styles["none"]}>What you both say stands here.</p>;
  return (
    <ol className={styles["turns"]} aria-label="Conversation" aria-live="polite">
      {turns.map((turn, at) => (
        <li key={at} className={styles["turn"]} data-role={turn.role}>
          <span className={styles["who"]}>{WHO[turn.role]}</span>
          {turn.text === "" ? null : <p className={styles["text"]}>{turn.text}</p>}
          {turn.role === "assistant"
            ? turn.toolCalls.map((call) => (
                <pre key={call.id} className={styles["call"]} tabIndex={0}>
                  {call.name}({call.arguments})
                </pre>
              ))
            : null}
        </li>
      ))}
      {coming === null ? null : (
        <li className={styles["turn"]} data-role="assistant">
          <span className={styles["who"]}>{WHO.assistant}</span>
          {coming.reasoning === "" ? null : (
            <p className={styles["reasoning"]}>{coming.reasoning}</p>
          )}
          <p className={styles["text"]}>{coming.text === "" ? "…" : coming.text}</p>
        </li>
      )}
    </ol>
  );
}

const WHO: Record<Turn["role"], string> = { user: "You", assistant: "Model", tool: "Tool" };

/** The model asked for tools: the person answers in their place. */
function ToolResults({
  calls,
  isReady,
  onSend,
}: {
  calls: readonly { id: string; name: string }[];
  isReady: boolean;
  onSend: (results: Turn[]) => void;
}) {
  const [results, setResults] = useState<readonly string[]>(calls.map(() => ""));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(calls.map(({ id }, at) => ({ role: "tool", callId: id, text: results[at] ?? "" })));
      }}
    >
      <p>The model asks for {countOf(calls.length, "tool")}. Say what comes back.</p>
      {calls.map(({ id, name }, at) => (
        <Field key={id} label={`Result of ${name}`} isWide>
          <textarea
            rows={2}
            required
            value={results[at]}
            onChange={({ target }) => setResults(results.toSpliced(at, 1, target.value))}
          />
        </Field>
      ))}
      <p>
        <Button look="main" type="submit" isDisabled={!isReady}>
          Send the results
        </Button>
      </p>
    </form>
  );
}

function Settings({
  settings,
  onChange,
}: {
  settings: ChatSettings;
  onChange: (settings: ChatSettings) => void;
}) {
  const set = (name: keyof ChatSettings) => ({
    value: settings[name],
    onChange: ({ target }: { target: { value: string } }) =>
      onChange({ ...settings, [name]: target.value }),
  });
  return (
    <Panel title="Settings">
      <form onSubmit={(event) => event.preventDefault()}>
        <Field label="Temperature" hint="0 to 2. Higher is more varied.">
          <input type="number" min={0} max={2} step={0.1} {...set("temperature")} />
        </Field>
        <Field label="Longest answer (tokens)">
          <input type="number" min={1} step={1} {...set("maxTokens")} />
        </Field>
        <Field label="Instructions to the model" isWide>
          <textarea rows={2} {...set("system")} />
        </Field>
        <Field label="JSON schema" hint="The answer follows the schema." isWide>
          <textarea rows={3} spellCheck={false} className={styles["json"]} {...set("schema")} />
        </Field>
        <Field label="Tools" hint="A list in JSON, as the OpenAI API has tools." isWide>
          <textarea rows={3} spellCheck={false} className={styles["json"]} {...set("tools")} />
        </Field>
      </form>
    </Panel>
  );
}

function SameAsCode({
  baseUrl,
  model,
  turns,
  settings,
}: {
  baseUrl: string;
  model: string;
  turns: readonly Turn[];
  settings: ChatSettings;
}) {
  const [language, setLanguage] = useState<(typeof CODE_LANGUAGES)[number]>("curl");
  const body = bodyOf(model, asked(turns), settings);
  const code = body === null ? "" : chatCode(language, baseUrl, body);
  return (
    <Panel
      title="The same call as code"
      aside={
        <WordChoice
          label="Language"
          options={CODE_LANGUAGES}
          chosen={language}
          onChoose={setLanguage}
        />
      }
    >
      {body === null ? (
        <p>The settings hold no JSON yet.</p>
      ) : (
        <>
          <pre id="chat-code" className={styles["code"]} tabIndex={0}>
            {code}
          </pre>
          <Row>
            <Copy text={code} from="chat-code" label="Copy the code" />
            <span>A program has the key in RESON_INFERENCE_API_KEY.</span>
          </Row>
        </>
      )}
    </Panel>
  );
}

/** What was asked last, without the answer. */
function asked(turns: readonly Turn[]): readonly Turn[] {
  const end = turns.findLastIndex(({ role }) => role !== "assistant");
  return end < 0 ? [EXAMPLE] : turns.slice(0, end + 1);
}

function bodyOf(model: string, turns: readonly Turn[], settings: ChatSettings): ChatBody | null {
  try {
    return chatBody(model, turns, settings);
  } catch (error) {
    if (error instanceof SettingInvalid) return null;
    throw error;
  }
}
