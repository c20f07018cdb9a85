/** Pure: whether the tools of a chat are ones that any engine could call. Which of them an engine calls is its adapter's to say: parts/agent/runners/resontech_replica/tool_calls.py. */
import { refuseOthers } from "./check-fields.ts";
import { isObject } from "./is-object.ts";
import { invalidRequest } from "./openai-error.ts";

const MAX_TOOLS = 128;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const WORDS: readonly unknown[] = ["none", "auto", "required"];

/** @throws OpenAiError with the field that is meant */
export function checkTools(body: Readonly<Record<string, unknown>>): void {
  const names = namesOf(body["tools"] ?? []);
  checkChoice(body["tool_choice"] ?? null, names);
}

function namesOf(tools: unknown): ReadonlySet<string> {
  if (!Array.isArray(tools)) throw invalidRequest("invalid_type", "tools is no list", "tools");
  if (tools.length > MAX_TOOLS)
    throw invalidRequest("too_large", `tools has more than ${MAX_TOOLS} functions`, "tools");
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const name = nameOf(tool, `tools[${at}]`);
    if (names.has(name))
      throw invalidRequest("invalid_type", "two functions have one name", `tools[${at}]`);
    names.add(name);
  }
  return names;
}

function nameOf(tool: unknown, at: string): string {
  if (!isObject(tool)) throw invalidRequest("invalid_type", "a tool is no object", at);
  if (tool["type"] !== "function")
    throw invalidRequest("unsupported_by_model", "tools are functions alone", `${at}.type`);
  refuseOthers(tool, ["type", "function"], at);
  const called = isObject(tool["function"]) ? tool["function"] : {};
  refuseOthers(called, ["name", "description", "parameters", "strict"], `${at}.function`);
  const { name, description = "", parameters = null, strict = false } = called;
  if (typeof name !== "string" || !NAME.test(name))
    throw invalidRequest(
      "invalid_type",
      "a function's name has 1 to 64 letters, digits, _ and -",
      `${at}.function.name`,
    );
  for (const [said, kind] of [
    ["description", typeof (description ?? "") === "string"],
    ["strict", typeof (strict ?? false) === "boolean"],
  ] as const)
    if (!kind)
      throw invalidRequest(
        "invalid_type",
        `${said} of a function is of another type`,
        `${at}.function.${said}`,
      );
  if (parameters !== null && !isObject(parameters))
    throw invalidRequest(
      "invalid_type",
      "a function's parameters are a JSON schema",
      `${at}.function.parameters`,
    );
  return name;
}

function checkChoice(choice: unknown, names: ReadonlySet<string>): void {
  if (choice === null || choice === "none" || choice === "auto") return;
  const wrong = (code: string, message: string) => invalidRequest(code, message, "tool_choice");
  if (typeof choice === "string" && !WORDS.includes(choice))
    throw wrong("invalid_type", "tool_choice is none, auto, required or a function");
  if (choice !== "required") {
    if (!isObject(choice)) throw wrong("invalid_type", "tool_choice is no word and no function");
    if (choice["type"] !== "function")
      throw wrong("unsupported_by_model", "tool_choice names a function, and no other choice");
    const { function: called } = choice;
    const name = isObject(called) ? called["name"] : undefined;
    if (typeof name !== "string" || !names.has(name))
      throw wrong("invalid_type", "tool_choice names a function that is none of the tools");
  }
  if (names.size === 0)
    throw wrong("invalid_type", "tool_choice demands a call, and there are no tools");
}
