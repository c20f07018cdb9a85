/** Vectors of texts, by a key that the person pasted: no cookie goes with it. */
import { INFERENCE_PATH } from "@resontech/contracts/http-inference";
import { OPENAI_PATH } from "@resontech/contracts/openai-surface";
import { asProblem } from "../../api/problem.ts";
import { predictRefusal } from "./predict.ts";

/** @throws Problem */
export async function embedTexts(
  deployment: string,
  key: string,
  texts: readonly string[],
): Promise<number[][]> {
  let answer: Response;
  try {
    answer = await fetch(
      `${INFERENCE_PATH}/${encodeURIComponent(deployment)}${OPENAI_PATH}/embeddings`,
      {
        ...{ method: "POST", credentials: "omit" },
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: deployment, input: texts }),
      },
    );
  } catch (error) {
    throw asProblem(error);
  }
  const text = await answer.text();
  if (!answer.ok) throw predictRefusal(answer, text);
  const { data } = JSON.parse(text) as { data: { index: number; embedding: number[] }[] };
  return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
}

/** Cosine of the angle between two vectors; 0 where one has no length. */
export function likeness(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) =>
    x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
  const lengths = Math.sqrt(product(a, a) * product(b, b));
  return lengths === 0 ? 0 : product(a, b) / lengths;
}
