/** Embeddings by the unmodified `openai` package for JavaScript; prints one JSON object. */
import { readFileSync } from "node:fs";
import OpenAI from "openai";

const variable = (name: string): string => process.env[name] ?? "";
const client = new OpenAI({
  ...{ baseURL: variable("BASE_URL"), apiKey: variable("API_KEY"), maxRetries: 0 },
});
const { texts } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as { texts: string[] };
const vectors = async (more: { encoding_format?: "float" } = {}) => {
  const asked = { model: variable("MODEL"), input: texts, ...more };
  return (await client.embeddings.create(asked)).data.map(({ embedding }) => embedding);
};
console.log(
  // Asked for as base64, which the package decodes.
  JSON.stringify({ default: await vectors(), float: await vectors({ encoding_format: "float" }) }),
);
