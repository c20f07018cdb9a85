/** The same call from a shell, from Python and from JavaScript, without the key in a command line. Pure. */
import { curlWithKey } from "../../../api/curl-with-key.ts";
import type { ChatBody } from "./chat-request.ts";

export const CODE_LANGUAGES = ["curl", "Python", "JavaScript"] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

/** @param baseUrl of the deployment's OpenAI API */
export function chatCode(language: CodeLanguage, baseUrl: string, body: ChatBody): string {
  if (language === "curl") return curlOf(baseUrl, body);
  if (language === "Python") return pythonOf(baseUrl, body);
  return scriptOf(baseUrl, body);
}

function curlOf(baseUrl: string, body: ChatBody): string {
  // Nothing in a quoted document is read by the shell.
  return [
    ...curlWithKey("Authorization: Bearer %s", "RESON_INFERENCE_API_KEY"),
    "  --header 'Content-Type: application/json' \\",
    `  --data @- ${baseUrl}/chat/completions <<'END'`,
    JSON.stringify(body, null, 2),
    "END",
  ].join("\n");
}

function pythonOf(baseUrl: string, { model, messages, ...rest }: ChatBody): string {
  const named = Object.entries({ model, messages, ...rest }).map(
    ([name, value]) => `    ${name}=${indented(pythonLiteral(value), 4)},`,
  );
  return [
    "# pip install openai; SSL_CERT_FILE names the root certificate",
    "import os",
    "from openai import OpenAI",
    "",
    "client = OpenAI(",
    `    base_url=${JSON.stringify(baseUrl)},`,
    '    api_key=os.environ["RESON_INFERENCE_API_KEY"],',
    ")",
    "stream = client.chat.completions.create(",
    ...named,
    "    stream=True,",
    ")",
    "for chunk in stream:",
    "    for choice in chunk.choices:",
    '        print(choice.delta.content or "", end="", flush=True)',
  ].join("\n");
}

function scriptOf(baseUrl: string, body: ChatBody): string {
  const asked = indented(JSON.stringify({ ...body, stream: true }, null, 2), 0);
  return [
    "// npm install openai; NODE_EXTRA_CA_CERTS names the root certificate",
    'import OpenAI from "openai";',
    "",
    "const client = new OpenAI({",
    `  baseURL: ${JSON.stringify(baseUrl)},`,
    "  apiKey: process.env.RESON_INFERENCE_API_KEY,",
    "});",
    `const stream = await client.chat.completions.create(${asked});`,
    "for await (const { choices } of stream)",
    '  process.stdout.write(choices[0]?.delta?.content ?? "");',
  ].join("\n");
}

/** JSON, but for the three words that Python has others for. A JSON text is a Python text. */
export function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return bracketed("[", value.map(pythonLiteral), "]");
  if (typeof value === "object")
    return bracketed(
      "{",
      Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`),
      "}",
    );
  return JSON.stringify(value);
}

function bracketed(open: string, parts: readonly string[], close: string): string {
  if (parts.length === 0) return open + close;
  return `${open}\n${parts.map((part) => `    ${indented(part, 4)},`).join("\n")}\n${close}`;
}

function indented(text: string, by: number): string {
  return text.replaceAll("\n", `\n${" ".repeat(by)}`);
}
