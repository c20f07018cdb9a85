/** The AI SDK, as its maker publishes it. Its provider for OpenAI calls `/v1/responses` unless told otherwise. */
import {
  API_KEY,
  ASKED,
  CHAT,
  CHAT_URL,
  CITIES,
  EMBEDDINGS,
  EMBEDDINGS_URL,
  end,
  packageOf,
  step,
  TEXTS,
  wrongVectors,
} from "./steps.mjs";

const { embedMany, generateText, Output, streamText, tool } = await packageOf("ai");
const { createOpenAI } = await packageOf("@ai-sdk/openai");
const { z } = await packageOf("zod");
const openai = createOpenAI({ baseURL: CHAT_URL, apiKey: API_KEY });
const said = { prompt: ASKED, temperature: 0, maxOutputTokens: 16, maxRetries: 0 };
const schema = z.object({ city: z.enum(CITIES) });
const models = { chat: openai.chat(CHAT), responses: openai(CHAT) };

await step("chat", async () => {
  const answer = await generateText({ ...said, model: models.chat });
  return answer.text !== "" && answer.usage.outputTokens > 0 ? undefined : answer;
});

await step("stream", async () => {
  for (const model of Object.values(models)) {
    const parts = [];
    for await (const part of streamText({ ...said, model }).textStream) parts.push(part);
    const { text } = await generateText({ ...said, model });
    if (parts.join("") !== text || parts.length < 3) return [parts, text];
  }
  return undefined;
});

await step("tools", async () => {
  const weather = tool({ description: "The weather of a city.", inputSchema: schema });
  for (const model of Object.values(models)) {
    const { toolCalls } = await generateText({
      ...{ ...said, model, maxOutputTokens: 60 },
      ...{ tools: { weather }, toolChoice: { type: "tool", toolName: "weather" } },
    });
    if (!CITIES.includes(toolCalls[0]?.input.city)) return toolCalls;
  }
  return undefined;
});

await step("json", async () => {
  for (const model of Object.values(models)) {
    const asked = { ...said, model, maxOutputTokens: 60, output: Output.object({ schema }) };
    const { output } = await generateText(asked);
    if (!CITIES.includes(output.city)) return output;
  }
  return undefined;
});

await step("responses", async () => {
  const answer = await generateText({ ...said, model: models.responses });
  return answer.text === "" ? answer : undefined;
});

await step("embeddings", async () => {
  const there = createOpenAI({ baseURL: EMBEDDINGS_URL, apiKey: API_KEY });
  const { embeddings } = await embedMany({
    ...{ model: there.embedding(EMBEDDINGS), values: TEXTS, maxRetries: 0 },
  });
  return wrongVectors(embeddings);
});

end();
