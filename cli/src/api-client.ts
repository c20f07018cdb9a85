/** One JSON question to the appliance's API. Routes are checked against the table of its OpenAPI document. */
import {
  type ApiAsked,
  type ApiFields,
  type ApiMethod,
  type ApiPath,
  type ApiReply,
  requestPath,
  type UncheckedFields,
} from "@resontech/contracts/api-request";
import { CliError, UsageError } from "./cli-error.ts";
import { sendRequest } from "./send-request.ts";
import type { Settings } from "./settings.ts";

/** @property timeoutMs as `send-request.ts` has it */
type Options = { timeoutMs?: number };

/** @throws CliError with the API's own code and hint; `unreachable` when it does not answer, `reply_invalid` for what is none of its answers */
export async function getJson<const P extends ApiPath<"GET">>(
  settings: Settings,
  path: P,
  ...[asked]: ApiFields<ApiAsked<"GET", P>>
): Promise<ApiReply<"GET", P>> {
  return (await askJson(settings, "GET", path, asked)) as ApiReply<"GET", P>;
}

/** @throws CliError as {@link getJson} */
export async function sendJson<
  const M extends Exclude<ApiMethod, "GET">,
  const P extends ApiPath<M>,
>(
  settings: Settings,
  method: M,
  path: P,
  ...[asked]: ApiFields<ApiAsked<M, P> & Options>
): Promise<ApiReply<M, P>> {
  return (await askJson(settings, method, path, asked)) as ApiReply<M, P>;
}

async function askJson(
  { baseUrl, credential, ca, project }: Settings,
  method: string,
  path: string,
  { body, timeoutMs, ...named }: UncheckedFields & Options = {},
): Promise<unknown> {
  const url = new URL(requestPath(path, named), baseUrl);
  const { status, text } = await sendRequest(
    {
      ...{ method, url, ca, timeoutMs },
      headers: {
        authorization: `Bearer ${await credential()}`,
        accept: "application/json",
        ...(project === null ? {} : { "x-rt-project": project }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
    },
    body === undefined ? null : JSON.stringify(body),
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
