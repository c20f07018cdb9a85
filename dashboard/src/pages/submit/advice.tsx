import { type AdviceQuery, OPTIMIZERS, PRECISIONS } from "@resontech/contracts/http-advice";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { type AdvisedRanks, AdviceAnswer } from "./advice-answer.tsx";
import styles from "./submit.module.css";

const SHAPE_FIELDS = [
  {
    ...{ name: "layers", label: "Layers", max: 1_000 },
    hint: "Of the model, with width and heads. Empty: those of a published model.",
  },
  { name: "hidden", label: "Width (hidden)", max: 100_000, hint: "Of a layer." },
  { name: "heads", label: "Heads", max: 10_000, hint: "Of its attention." },
  { name: "vocabulary", label: "Words", max: 10_000_000, hint: "Empty: 50257, as GPT-2 has." },
] as const;
type Shape = Record<(typeof SHAPE_FIELDS)[number]["name"], string>;
const NO_SHAPE: Shape = { layers: "", hidden: "", heads: "", vocabulary: "" };

/**
 * How many ranks a training takes, and how they share the work. It stands beside the form and is none of its fields.
 * @property models catalogue ids with commas, as the form has them; empty: those of the site
 */
export function Advice({
  models,
  onTake,
}: {
  models: string;
  onTake: (advised: AdvisedRanks) => void;
}) {
  const [parameters, setParameters] = useState("");
  const [sequence, setSequence] = useState("");
  const [precision, setPrecision] = useState<AdviceQuery["precision"]>("mixed");
  const [optimizer, setOptimizer] = useState<AdviceQuery["optimizer"]>("adam");
  const [shape, setShape] = useState<Shape>(NO_SHAPE);
  const [asked, setAsked] = useState<AdviceQuery | null>(null);
  const [taken, setTaken] = useState<AdvisedRanks | null>(null);
  const advice = useQuery({
    queryKey: ["advice", asked],
    queryFn: ({ signal }) => ask("GET", "/api/advice", { query: asked!, signal }),
    enabled: asked !== null,
    retry: false,
  });
  const query: AdviceQuery = {
    ...{ parameters, precision, optimizer },
    ...(sequence === "" ? {} : { sequence: Number(sequence) }),
    ...(models === "" ? {} : { gpuModels: models }),
    ...Object.fromEntries(
      Object.entries(shape)
        .filter(([, value]) => value !== "")
        .map(([name, value]) => [name, Number(value)]),
    ),
  };
  return (
    <details className={styles["advice"]}>
      <summary>Advice: how many ranks, and how they share the work</summary>
      <div className={styles["stack"]}>
        <form
          aria-label="Advice"
          onSubmit={(event) => {
            event.preventDefault();
            setTaken(null);
            setAsked(query);
          }}
        >
          <Field label="Parameters of the model" hint="7b, 350m or 7000000000.">
            <input
              required
              maxLength={24}
              pattern="\s*\d+(\.\d+)?[kmbtKMBT]?\s*"
              placeholder="7b"
              value={parameters}
              onChange={({ target }) => setParameters(target.value)}
            />
          </Field>
          <Field
            label="Length of a sequence (tokens)"
            hint="Of a decoder-only transformer. Empty: activations and micro-batch are unknown."
          >
            <input
              type="number"
              min={1}
              max={10_000_000}
              value={sequence}
              onChange={({ target }) => setSequence(target.value)}
            />
          </Field>
          <Field label="Precision">
            <select
              value={precision}
              onChange={({ target }) =>
                setPrecision(PRECISIONS.find((one) => one === target.value) ?? "mixed")
              }
            >
              {PRECISIONS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </Field>
          <Field label="Optimizer">
            <select
              value={optimizer}
              onChange={({ target }) =>
                setOptimizer(OPTIMIZERS.find((one) => one === target.value) ?? "adam")
              }
            >
              {OPTIMIZERS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </Field>
          <ShapeFields shape={shape} onChange={setShape} />
          <Row>
            <Button type="submit">Advise</Button>
          </Row>
        </form>
        {asked === null ? (
          <p className={styles["small"]}>
            A table by the model's size, and beside it our estimate for the devices that are online.
          </p>
        ) : null}
        {asked !== null && advice.isPending ? <Skeleton rows={3} /> : null}
        {advice.isError ? (
          <Failure error={advice.error} retry={() => void advice.refetch()} />
        ) : null}
        {advice.data === undefined ? null : (
          <AdviceAnswer
            advice={advice.data}
            taken={taken}
            onTake={(advised) => {
              setTaken(advised);
              onTake(advised);
            }}
          />
        )}
      </div>
    </details>
  );
}

/** Of the model: all of layers, width and heads, or those of a published model are assumed. */
function ShapeFields({ shape, onChange }: { shape: Shape; onChange: (shape: Shape) => void }) {
  return SHAPE_FIELDS.map(({ name, label, hint, max }) => (
    <Field key={name} label={label} hint={hint}>
      <input
        type="number"
        min={1}
        max={max}
        value={shape[name]}
        onChange={({ target }) => onChange({ ...shape, [name]: target.value })}
      />
    </Field>
  ));
}
