import { useRef, useState } from "react";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { State } from "../../ui/state.tsx";
import { saveBytes } from "../../ui/save-bytes.ts";
import type { StateWord } from "../../ui/state-word.ts";
import { useAction } from "../../ui/use-action.ts";
import {
  type AnswerReport,
  answerSentence,
  answerVerdict,
  checkAnswer,
  lackWords,
} from "./check-answer.ts";
import type { Asked } from "./asked.ts";
import { loadVerifier } from "./load-verifier.ts";
import { readProofs, type ReadProofs } from "./read-proofs.ts";
import styles from "./audit.module.css";

/** Lets the page paint. */
const breathe = () => new Promise<void>((resolve) => setTimeout(resolve));

/** The whole answer with its proofs: checked in the page by the verifier's own code, and taken away as one file. */
export function AnswerCheck({
  asked,
  newest,
  listed,
}: {
  asked: Asked;
  newest: string;
  /** Entries of the list; null where it goes on. */
  listed: number | null;
}) {
  const { user } = useSession();
  const [progress, setProgress] = useState<string | null>(null);
  const [policy, setPolicy] = useState<string | null>(null);
  const [report, setReport] = useState<AnswerReport | null>(null);
  const [read, setRead] = useState<ReadProofs | null>(null);
  const [saved, setSaved] = useState<number | null>(null);
  const isStopped = useRef(false);

  /** Read once: each reading is an entry of the log. */
  const proofs = async (): Promise<ReadProofs | null> => {
    if (read !== null) return read;
    const all = await readProofs(
      asked,
      newest,
      (count) => setProgress(`${count} proofs read`),
      () => isStopped.current,
    );
    setRead(all);
    return all;
  };
  const run = async (effect: (all: ReadProofs) => Promise<void>) => {
    isStopped.current = false;
    setProgress("Reading proofs");
    try {
      const all = await proofs();
      if (all !== null) await effect(all);
    } finally {
      setProgress(null);
    }
  };
  const verify = useAction(async (trusted: string | null) => {
    await run(async ({ entries }) => {
      const { checkProof } = await loadVerifier();
      setReport(
        await checkAnswer(entries, trusted, checkProof, async (checked) => {
          setProgress(`${checked} of ${entries.length} checked`);
          await breathe();
        }),
      );
    });
  });
  const take = useAction(async () => {
    await run(async ({ entries, isCut, behind, incomplete }) => {
      const askedAt = new Date().toISOString();
      const { archiveOf } = await import("./found-export.ts");
      const { question, about } = asked;
      const filters = question === null ? about : { question, ...about };
      const bytes = await archiveOf(entries, {
        ...{ askedBy: user.username, origin: location.origin, askedAt, filters },
        ...{ isCut, behind, incomplete },
      });
      const name = `audit-${askedAt.slice(0, 19).replaceAll(":", "")}Z.zip`;
      saveBytes(bytes, name, "application/zip");
      setSaved(entries.length);
    });
  });
  const isBusy = verify.isBusy || take.isBusy;
  return (
    <>
      <Row>
        <Button onPress={() => verify.run(policy)} isDisabled={isBusy}>
          Verify this answer
        </Button>
        <Button onPress={() => take.run()} isDisabled={isBusy}>
          Export what was found
        </Button>
        {progress === null ? null : (
          <>
            <span role="status">{progress}</span>
            <Button
              look="quiet"
              onPress={() => {
                isStopped.current = true;
              }}
            >
              Stop
            </Button>
          </>
        )}
        {saved === null || isBusy ? null : (
          <span role="status">
            The file has {saved} {saved === 1 ? "entry" : "entries"}, each with its proof.
          </span>
        )}
      </Row>
      {verify.error === null ? null : <Failure error={verify.error} />}
      {take.error === null ? null : <Failure error={take.error} />}
      {report === null || isBusy || read === null ? null : (
        <Report
          report={report}
          read={{ ...read, listed }}
          isWhole={asked.question === null && isUnfiltered(asked.about)}
          onPolicy={(text) => {
            setPolicy(text);
            verify.run(text);
          }}
        />
      )}
    </>
  );
}

const VERDICTS = {
  good: { word: "Verified", tone: "good", shape: "tick" },
  part: { word: "Verified in part", tone: "wait", shape: "half" },
  bad: { word: "Not as it should be", tone: "bad", shape: "cross" },
} as const satisfies Record<string, StateWord>;

function isUnfiltered(about: Asked["about"]): boolean {
  return Object.keys(about).every((name) => name === "from" || name === "to");
}

function Report({
  report,
  read,
  isWhole,
  onPolicy,
}: {
  report: AnswerReport;
  read: ReadProofs & { listed: number | null };
  isWhole: boolean;
  onPolicy: (text: string) => void;
}) {
  const [error, setError] = useState<unknown>(null);
  const { failed, signature } = report;
  const verdict = answerVerdict(report, read);
  return (
    <div
      role={verdict === "bad" ? "alert" : "status"}
      className={`${styles["verdict"]} ${styles[verdict]}`}
    >
      <div>
        <State of={VERDICTS[verdict]} />
        <p>{answerSentence(report)}</p>
      </div>
      {failed.length === 0 ? null : (
        <ul>
          {failed.slice(0, 10).map(({ entry, reason }) => (
            <li key={entry}>
              <code>{entry}</code>: {reason}
            </li>
          ))}
          {failed.length > 10 ? <li>and {failed.length - 10} more</li> : null}
        </ul>
      )}
      <ul className={styles["small"]}>
        <li>
          {signature === "SELF-ASSERTED"
            ? "Whose key signed the log's head is not checked: give your policy file."
            : signature === "PASS"
              ? "A key that your policy trusts signed the log's head."
              : `No key that your policy trusts signed the log's head: ${report.signatureReason}.`}
        </li>
        <li>{completenessWords(report, read, isWhole)}</li>
        <li>
          This appliance served the code that checked. For an independent answer give the exported
          file to your own copy of the verifier.
        </li>
      </ul>
      <Field label="Your policy file" hint="As it was handed over at the ceremony.">
        <input
          type="file"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) file.text().then(onPolicy, setError);
          }}
        />
      </Field>
      {error === null ? null : <Failure error={error} />}
    </div>
  );
}

/** What is known of entries that the answer lacks. */
function completenessWords(
  report: AnswerReport,
  read: ReadProofs & { listed: number | null },
  isWhole: boolean,
): string {
  const lack = lackWords(report, read);
  if (lack !== null) return lack;
  if (isWhole)
    return report.isGapless
      ? "No entry is missing between the oldest and the newest one."
      : "Entries are missing between the oldest and the newest one.";
  return "Whether the search left an entry out, proofs of what it found can't say: the verifier says it of an export of the whole log.";
}
