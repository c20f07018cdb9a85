/** A conversation as the OpenAI API takes it: `POST <endpoint>/v1/chat/completions`. Pure. */

export type ToolCall = { id: string; name: string; arguments: string };
export type Turn =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; toolCalls: readonly ToolCall[] }
  | { role: "tool"; callId: string; text: string };

/** As they were typed; what is empty is left to the model. */
export type ChatSettings = {
  system: string;
  temperature: string;
  maxTokens: string;
  /** A JSON schema that the answer is to follow. */
  schema: string;
  /** An array of tools as the OpenAI API has them, in JSON. */
  tools: string;
};
export const NO_SETTINGS: ChatSettings = {
  ...{ system: "", temperature: "", maxTokens: "", schema: "", tools: "" },
};

export type ChatBody = { model: string; messages: object[] } & Record<string, unknown>;

/** What of the settings is no JSON, in words. */
export class SettingInvalid extends Error {}

/** @throws SettingInvalid */
export function chatBody(
  model: string,
  turns: readonly Turn[],
  { system, temperature, maxTokens, schema, tools }: ChatSettings,
): ChatBody {
  return {
    model,
    messages: [
      ...(system.trim() === "" ? [] : [{ role: "system", content: system }]),
      ...turns.map(messageOf),
    ],
    ...(temperature === "" ? {} : { temperature: Number(temperature) }),
    ...(maxTokens === "" ? {} : { max_tokens: Number(maxTokens) }),
    ...(schema.trim() === ""
      ? {}
      : {
          response_format: {
            type: "json_schema",
            json_schema: { name: "answer", strict: true, schema: jsonOf("JSON schema", schema) },
          },
        }),
    ...(tools.trim() === "" ? {} : { tools: jsonOf("tools", tools) }),
  };
}

function messageOf(turn: Turn): object {
  if (turn.role === "user") return { role: "user", content: turn.text };
  if (turn.role === "tool") return { role: "tool", tool_call_id: turn.callId, content: turn.text };
  if (turn.toolCalls.length === 0) return { role: "assistant", content: turn.text };
  return {
    ...{ role: "assistant", content: turn.text === "" ? null : turn.text },
    tool_calls: turn.toolCalls.map(({ id, name, arguments: given }) => ({
      ...{ id, type: "function", function: { name, arguments: given } },
    })),
  };
}

function jsonOf(what: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SettingInvalid(`the ${what} is no JSON: ${(error as Error).message}`);
  }
}
