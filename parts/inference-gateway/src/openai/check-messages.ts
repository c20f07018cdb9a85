/** Pure: the messages of a chat, as every engine and every chat template takes them. What breaks one is refused here, with its place. */
import { OPENAI_PARTS, type OpenAiEngine, useOf } from "@resontech/contracts/openai-fields";
import { type Fields, notDone, refuseOthers } from "./check-fields.ts";
import { isObject } from "./is-object.ts";
import { invalidRequest } from "./openai-error.ts";

const ROLES = ["developer", "system", "user", "assistant", "tool"] as const;
type Role = (typeof ROLES)[number];

/** Beside its content. What an assistant said comes back as a client had it: of some of it a model is told nothing. */
const FIELDS: Readonly<Record<Role, readonly string[]>> = {
  ...{ developer: ["name"], system: ["name"], user: ["name"], tool: ["tool_call_id", "name"] },
  assistant: ["name", "tool_calls", "refusal", "annotations", "reasoning_content", "reasoning"],
};
const PARTS: Readonly<Record<Role, readonly string[]>> = {
  ...{ developer: ["text"], system: ["text"], tool: ["text"], assistant: ["text", "refusal"] },
  user: ["text", "image_url", "input_audio"],
};
/** Of bytes that are sent along; an engine would fetch what any other URL names, from where it stands. */
const PICTURE = /^data:image\/[a-z0-9.+-]{1,40};base64,[A-Za-z0-9+/]+={0,2}$/;
const SOUND = /^[A-Za-z0-9+/]+={0,2}$/;
const SOUNDS: readonly unknown[] = ["wav", "mp3"];
/** A part may be marked for OpenAI's own cache. */
const MARK = "prompt_cache_breakpoint";

/**
 * In the one form that all engines read: what an assistant refused is what it said.
 * @throws OpenAiError with the place of what is wrong
 */
export function readMessages(messages: unknown): Fields[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalidRequest("missing_messages", "messages is no list with a message", "messages");
  const calls = new Set<string>();
  return messages.map((message, at) => readMessage(message, `messages[${at}]`, calls));
}

/** @throws OpenAiError unsupported_by_model, where the engine takes no such part */
export function checkParts(messages: unknown, engine: OpenAiEngine | null): void {
  for (const [at, message] of (messages as Fields[]).entries()) {
    const { content } = message;
    if (!Array.isArray(content)) continue;
    for (const [part, { type }] of (content as { type: string }[]).entries())
      if (type in OPENAI_PARTS) {
        const uses = OPENAI_PARTS[type as keyof typeof OPENAI_PARTS];
        if (useOf(uses, "chat/completions", engine) === "refused")
          throw notDone(`messages[${at}].content[${part}].${type}`, engine);
      }
  }
}

/** @param calls ids of the tools' calls so far */
function readMessage(message: unknown, at: string, calls: Set<string>): Fields {
  if (!isObject(message)) throw wrong("a message is no object", at);
  const { role, content: said, ...rest } = message;
  if (role === "function") throw older("role", at);
  if (!ROLES.includes(role as Role))
    throw invalidRequest("invalid_value", `role is one of ${ROLES.join(", ")}`, `${at}.role`);
  if ((rest["function_call"] ?? null) !== null) throw older("function_call", at);
  refuseOthers(rest, FIELDS[role as Role], at);
  const kept = Object.fromEntries(
    Object.entries(rest).filter(([name, value]) => value !== null && name !== "annotations"),
  );
  for (const name of ["name", "refusal", "reasoning_content", "reasoning", "tool_call_id"])
    if (name in kept && typeof kept[name] !== "string") throw wrong("no text", `${at}.${name}`);
  const content = readContent(said ?? null, role as Role, `${at}.content`);
  if (role === "tool") return { role, content: needed(content, at), ...answered(kept, at, calls) };
  if (role !== "assistant") return { role, content: needed(content, at), ...kept };
  const { refusal = null, tool_calls: called = [], ...others } = kept;
  const toolCalls = readCalls(called, `${at}.tool_calls`, calls);
  const spoken = content ?? refusal;
  if (spoken === null && toolCalls.length === 0) needed(null, at);
  return {
    ...{ role, content: spoken, ...others },
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
}

function needed(content: unknown, at: string): unknown {
  if (content === null)
    throw invalidRequest("missing_content", "the message has no content", `${at}.content`);
  return content;
}

function readContent(content: unknown, role: Role, at: string): unknown {
  if (content === null || typeof content === "string") return content;
  if (!Array.isArray(content) || content.length === 0)
    throw wrong("content is neither a text nor a list with a part", at);
  return content.map((part, index) => readPart(part, role, `${at}[${index}]`));
}

function readPart(part: unknown, role: Role, at: string): Fields {
  if (!isObject(part)) throw wrong("a part is no object", at);
  const { type } = part;
  if (typeof type !== "string" || !PARTS[role].includes(type))
    throw invalidRequest(
      "unsupported_content",
      `parts of a message of the role ${role} are ${PARTS[role].join(", ")}`,
      `${at}.type`,
    );
  refuseOthers(part, ["type", type, MARK], at);
  const value = part[type];
  const place = `${at}.${type}`;
  if (type === "image_url") return { type, image_url: readPicture(value, place) };
  if (type === "input_audio") return { type, input_audio: readSound(value, place) };
  if (typeof value !== "string") throw wrong("no text", place);
  return { type: "text", text: value };
}

function readPicture(picture: unknown, at: string): Fields {
  const said = typeof picture === "string" ? { url: picture } : picture;
  const { url } = isObject(said) ? said : { url: null };
  if (typeof url !== "string" || !url.startsWith("data:"))
    throw invalidRequest("url_not_allowed", "an image is sent as a data: URL", at);
  refuseOthers(said as Fields, ["url", "detail"], at);
  if (!PICTURE.test(url))
    throw invalidRequest(
      "invalid_value",
      "a data: URL of an image begins with data:image/<type>;base64, and goes on in base64",
      `${at}.url`,
    );
  return said as Fields;
}

function readSound(sound: unknown, at: string): Fields {
  if (!isObject(sound)) throw wrong("no object with data and format", at);
  refuseOthers(sound, ["data", "format"], at);
  const { data, format } = sound;
  if (typeof data !== "string" || !SOUND.test(data)) throw wrong("no base64", `${at}.data`);
  if (!SOUNDS.includes(format))
    throw invalidRequest("invalid_value", `format is one of ${SOUNDS.join(", ")}`, `${at}.format`);
  return sound;
}

/** The answer of a tool names the call that it answers. */
function answered(kept: Fields, at: string, calls: ReadonlySet<string>): Fields {
  const { tool_call_id: id } = kept;
  if (typeof id !== "string" || !calls.has(id))
    throw invalidRequest(
      "invalid_value",
      "the message answers a call of a tool that no earlier message has made",
      `${at}.tool_call_id`,
    );
  return kept;
}

function readCalls(called: unknown, at: string, calls: Set<string>): Fields[] {
  if (!Array.isArray(called)) throw wrong("no list", at);
  return called.map((call, index) => readCall(call, `${at}[${index}]`, calls));
}

function readCall(call: unknown, at: string, calls: Set<string>): Fields {
  if (!isObject(call)) throw wrong("a call is no object", at);
  const { type = "function", id, function: made } = call;
  if (type !== "function")
    throw invalidRequest("unsupported_by_model", "calls are of functions alone", `${at}.type`);
  refuseOthers(call, ["id", "type", "function", "index"], at);
  if (typeof id !== "string" || id === "") throw wrong("no text", `${at}.id`);
  if (!isObject(made)) throw wrong("no object with name and arguments", `${at}.function`);
  refuseOthers(made, ["name", "arguments"], `${at}.function`);
  const { name, arguments: given } = made;
  if (typeof name !== "string" || name === "") throw wrong("no text", `${at}.function.name`);
  calls.add(id);
  return {
    ...{ id, type },
    function: { name, arguments: readArguments(given ?? "", `${at}.function.arguments`) },
  };
}

/** Engines read them, and break over what is no JSON. A function without arguments may have been called with nothing. */
function readArguments(given: unknown, at: string): string {
  if (typeof given !== "string") throw wrong("no text", at);
  if (given.trim() === "") return "{}";
  let read: unknown;
  try {
    read = JSON.parse(given);
  } catch {
    read = null;
  }
  if (!isObject(read))
    throw invalidRequest("invalid_value", "the arguments of a call are no JSON object", at);
  return given;
}

function older(name: string, at: string): Error {
  return invalidRequest(
    "unsupported_by_model",
    "functions are the API's older form, which no engine here answers: use tools",
    `${at}.${name}`,
  );
}

function wrong(message: string, at: string): Error {
  return invalidRequest(
    "invalid_type",
    message.startsWith("no ") ? `${at} is ${message}` : message,
    at,
  );
}
