/** The package `openai`, as its maker publishes it. */
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

const { default: OpenAI } = await packageOf("openai");
const client = new OpenAI({ baseURL: CHAT_URL, apiKey: API_KEY, maxRetries: 0 });
const said = {
  model: CHAT,
  temperature: 0,
  max_tokens: 12,
  messages: [{ role: "user", content: ASKED }],
};
const parameters = {
  ...{ type: "object", properties: { city: { enum: CITIES } }, required: ["city"] },
  additionalProperties: false,
};

await step("chat", async () => {
  const answer = await client.chat.completions.create(said);
  return answer.choices[0].message.content && answer.usage.completion_tokens > 0
    ? undefined
    : answer;
});

await step("stream", async () => {
  const parts = [];
  for await (const chunk of await client.chat.completions.create({ ...said, stream: true }))
    parts.push(chunk.choices[0]?.delta.content ?? "");
  const whole = (await client.chat.completions.create(said)).choices[0].message.content;
  return parts.join("") === whole && parts.length > 2 ? undefined : [parts, whole];
});

await step("tools", async () => {
  const answer = await client.chat.completions.create({
    ...{ ...said, max_tokens: 60 },
    tools: [{ type: "function", function: { name: "weather", parameters } }],
    tool_choice: { type: "function", function: { name: "weather" } },
  });
  const [call] = answer.choices[0].message.tool_calls;
  return CITIES.includes(JSON.parse(call.function.arguments).city) ? undefined : call;
});

await step("json", async () => {
  const json_schema = { name: "city", schema: parameters, strict: true };
  const response_format = { type: "json_schema", json_schema };
  const answer = await client.chat.completions.create({ ...said, max_tokens: 60, response_format });
  const { city } = JSON.parse(answer.choices[0].message.content);
  return CITIES.includes(city) ? undefined : answer;
});

await step("responses", async () => {
  const asked = { model: CHAT, input: ASKED, max_output_tokens: 16, temperature: 0 };
  const answer = await client.responses.create(asked);
  const parts = [];
  for await (const event of await client.responses.create({ ...asked, stream: true }))
    if (event.type === "response.output_text.delta") parts.push(event.delta);
  return answer.output_text && parts.join("") === answer.output_text ? undefined : [answer, parts];
});

await step("embeddings", async () => {
  const there = new OpenAI({ baseURL: EMBEDDINGS_URL, apiKey: API_KEY, maxRetries: 0 });
  const answer = await there.embeddings.create({ model: EMBEDDINGS, input: TEXTS });
  return wrongVectors(answer.data.map((one) => one.embedding));
});

end();
