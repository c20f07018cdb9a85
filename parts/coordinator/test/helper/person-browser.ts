import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request } from "node:https";

export type PageAnswer = {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  url: string;
};

/** Where an answer that was not followed leads. @throws Error with the page where it leads nowhere: Keycloak's form again, or the door's own page */
export function locationOf({ status, headers, body }: PageAnswer): string {
  if (headers.location === undefined) throw new Error(`no way back: ${status} ${body}`);
  return headers.location;
}

/** What of a browser an attack needs: cookies by host name, redirects, forms. No script runs. */
export class PersonBrowser {
  readonly cookies = new Map<string, string>();
  readonly #caPem: string;

  constructor(caFile: string) {
    this.#caPem = readFileSync(caFile, "utf8");
  }

  async ask(
    url: string,
    options: {
      method?: string;
      headers?: Record<string, string>;
      body?: string;
      follow?: boolean;
    } = {},
  ): Promise<PageAnswer> {
    const { method = "GET", body, follow = true } = options;
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = request(url, {
      ...{ method, ca: this.#caPem, agent: false, servername: new URL(url).hostname },
      headers: {
        ...(cookie === "" ? {} : { cookie }),
        ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
        ...options.headers,
      },
    });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of answer.setEncoding("utf8")) text += chunk as string;
    for (const line of answer.headers["set-cookie"] ?? []) this.#keep(line);
    const status = answer.statusCode ?? 0;
    const { location } = answer.headers;
    if (follow && location !== undefined && status >= 300 && status < 400)
      return await this.ask(new URL(location, url).href);
    return { status, headers: answer.headers, body: text, url };
  }

  /** Fills Keycloak's form; the answer is not followed. */
  async submit(page: PageAnswer, fields: Record<string, string>): Promise<PageAnswer> {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.body)?.[1];
    if (action === undefined) throw new Error(`no form: ${page.body.slice(0, 300)}`);
    return await this.ask(action.replaceAll("&amp;", "&"), {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
      follow: false,
    });
  }

  #keep(line: string): void {
    const [pair = ""] = line.split(";", 1);
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === "" || /;\s*max-age=0/i.test(line)) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
