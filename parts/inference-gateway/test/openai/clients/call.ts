/** Calls of the unmodified `openai` package for JavaScript; prints one JSON object. */
import OpenAI, { APIError } from "openai";

const variable = (name: string): string => process.env[name] ?? "";
const client = new OpenAI({
  ...{ baseURL: variable("BASE_URL"), apiKey: variable("API_KEY"), maxRetries: 0 },
});
const asked = {
  model: variable("MODEL"),
  messages: [{ role: "user" as const, content: "Say hello." }],
  ...{ max_tokens: 8, temperature: 0 },
};
const told: Record<string, unknown> = {};

told["models"] = (await client.models.list()).data.map(({ id }) => id);
const answer = await client.chat.completions.create(asked);
told["chat"] = answer.choices[0]?.message.content;

let streamed = "";
for await (const chunk of await client.chat.completions.create({ ...asked, stream: true }))
  streamed += chunk.choices[0]?.delta.content ?? "";
told["streamed"] = streamed;

const input = "Say hello.";
const response = { model: asked.model, input, max_output_tokens: 8, temperature: 0 };
told["response"] = (await client.responses.create(response)).output_text;
let responded = "";
for await (const event of await client.responses.create({ ...response, stream: true }))
  if (event.type === "response.output_text.delta") responded += event.delta;
told["responded"] = responded;

const endless = await client.chat.completions.create({
  ...{ ...asked, max_tokens: 400, stream: true },
  messages: [{ role: "user", content: "Write a long story about a dog and a cat." }],
});
let pieces = 0;
for await (const _ of endless) if (++pieces === 3) break;
told["aborted"] = pieces;

try {
  await client.chat.completions.create({ ...asked, model: "none" });
} catch (error) {
  if (!(error instanceof APIError)) throw error;
  const { status, code, type, requestID } = error;
  told["refused"] = { status, code, type, hasId: typeof requestID === "string" };
}
process.stdout.write(`${JSON.stringify(told)}\n`);
