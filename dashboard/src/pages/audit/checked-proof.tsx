import type { ProofReport } from "@resontech/verifier/check-proof";
import { useEffect, useState } from "react";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import type { StateWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { loadVerifier } from "./load-verifier.ts";

type Line = { name: string; verdict: string; reason: string };

const WORDS: Record<string, Omit<StateWord, "word">> = {
  PASS: { tone: "good", shape: "tick" },
  FAIL: { tone: "bad", shape: "cross" },
};
const COLUMNS: Column<Line>[] = [
  { title: "Question", of: ({ name }) => name },
  {
    title: "Answer",
    of: ({ verdict }) => (
      <State of={{ word: verdict, ...(WORDS[verdict] ?? { tone: "wait", shape: "ring" }) }} />
    ),
  },
  { title: "Why", of: ({ reason }) => reason },
];
/** What one entry can answer. */
const ASKED = ["INTEGRITY", "SIGNATURE", "WITNESSED"] as const;

/** The entry's proof, checked here by the verifier's own code. */
export function CheckedProof({ proof }: { proof: string }) {
  const [policy, setPolicy] = useState<string | null>(null);
  const [report, setReport] = useState<ProofReport | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isShown = true;
    const check = async () => {
      const { checkProof } = await loadVerifier();
      const found = await checkProof(proof, policy);
      if (isShown) setReport(found);
    };
    check().catch(setError);
    return () => {
      isShown = false;
    };
  }, [proof, policy]);
  if (error !== null) return <Failure error={error} />;
  if (report === null) return <Skeleton rows={3} />;
  const lines = ASKED.map((name): Line => {
    const { verdict, reason } = report.verdicts[name];
    return { name, verdict, reason };
  });
  return (
    <>
      <p>
        Checked by this appliance's own page: that is not independent. For an independent answer
        give the downloaded proof to your own copy of the verifier.
      </p>
      {report.refused === null ? null : <p role="alert">The proof is none: {report.refused}</p>}
      <Table
        caption="What the proof shows"
        columns={COLUMNS}
        rows={lines}
        keyOf={({ name }) => name}
      />
      <Field
        label="Your policy file"
        hint="As it was handed over at the ceremony. With it signature and witnesses are judged as well."
      >
        <input
          type="file"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) file.text().then(setPolicy, setError);
          }}
        />
      </Field>
    </>
  );
}
