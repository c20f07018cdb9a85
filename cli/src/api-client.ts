/** One JSON question to the appliance's API. */
import { CliError, UsageError } from "./cli-error.ts";
import { sendRequest } from "./send-request.ts";
import type { Settings } from "./settings.ts";

/**
 * @param query members that are undefined are left out
 * @throws CliError with the API's own code and hint; `unreachable` when it does not answer, `reply_invalid` for what is none of its answers
 */
export async function getJson(
  settings: Settings,
  path: string,
  query: Record<string, string | number | undefined> = {},
): Promise<unknown> {
  const url = new URL(path, settings.baseUrl);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return await askJson(settings, "GET", url, null);
}

/** @param body null: none @param options as `send-request.ts` has them @throws CliError as {@link getJson} */
export async function sendJson(
  settings: Settings,
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body: object | null,
  options: { timeoutMs?: number } = {},
): Promise<unknown> {
  return await askJson(settings, method, new URL(path, settings.baseUrl), body, options);
}

async function askJson(
  { credential, ca, project }: Settings,
  method: string,
  url: URL,
  body: object | null,
  options: { timeoutMs?: number } = {},
): Promise<unknown> {
  const { status, text } = await sendRequest(
    {
      ...{ method, url, ca, ...options },
      headers: {
        authorization: `Bearer ${await credential()}`,
        accept: "application/json",
        ...(project === null ? {} : { "x-rt-project": project }),
        ...(body === null ? {} : { "content-type": "application/json" }),
      },
    },
    body === null ? null : JSON.stringify(body),
  );
  const answer = parsed(text);
  if (status >= 200 && status < 300) return answer;
  const {
    code = "reply_invalid",
    message = `status ${status}`,
    hint = "",
  } = answer as Record<string, string>;
  // A filter or an id that can't be meant; of a body the appliance judges more than what was typed.
  const Refusal = method === "GET" && status === 400 ? UsageError : CliError;
  throw new Refusal(code, message, hint);
}

function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body;
  } catch {
    // Said below.
  }
  throw new CliError(
    "reply_invalid",
    "the answer is no JSON",
    "Check that RESON_BASE_URL names an appliance.",
  );
}
