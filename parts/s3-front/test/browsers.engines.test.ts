/** A browser at the S3 port: the dashboard's session comes along, as cookies know host names and no ports, and opens nothing. */
import { request } from "node:https";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import t from "tap";
import { PAGE_ORIGIN, RunningFront } from "./helper/running-front.ts";
import { signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const COOKIE = "__Host-rt=a-session-of-the-dashboard-00000000000000";
const GUARD = {
  "content-security-policy": /^sandbox; default-src 'none'/,
  "x-content-type-options": "nosniff",
};

async function ask(method: string, path: string, headers: Record<string, string>, body = "") {
  const sent = request(`${front.endpoint}${path}`, {
    ...{ method, ca: front.caPem, agent: false, servername: "localhost" },
    headers: { ...headers, ...(body === "" ? {} : { "content-length": String(body.length) }) },
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk as string;
  return { status: answer.statusCode, headers: answer.headers, text };
}
const signed = (method: string, path: string, extra: Record<string, string> = {}) =>
  signedHeaders(front, user.keys, method, path, extra);
const page = `/${user.bucket}/page.html`;
const script = "<script>fetch('/')</script>";

t.test("a page that a user stored is a file to keep, whatever it says of itself", async (t) => {
  const about = { "content-type": "text/html", "content-disposition": "inline" };
  t.equal((await ask("PUT", page, await signed("PUT", page, about), script)).status, 200);
  const got = await ask("GET", page, await signed("GET", page));
  t.equal(got.text, script);
  t.match(got.headers, { ...GUARD, "content-disposition": "attachment" });
  const asked = `${page}?response-content-disposition=inline`;
  t.match((await ask("GET", asked, await signed("GET", asked))).headers, {
    "content-disposition": "attachment",
  });
  const head = await ask("HEAD", page, await signed("HEAD", page));
  t.match(head.headers, { ...GUARD, "content-disposition": "inline", "content-type": "text/html" });
});

t.test("a session's cookie opens nothing, and is in no entry of the log", async (t) => {
  for (const path of [page, `/${user.bucket}?list-type=2`, "/"]) {
    const before = (await front.leaves()).length;
    const refused = await ask("GET", path, { cookie: COOKIE });
    t.match(refused, { status: 403, headers: GUARD }, path);
    t.notMatch(refused.text, /script/);
    const leaves = (await front.leaves()).slice(before);
    t.match(
      leaves,
      [{ actor: { kind: "anonymous" }, outcome: { code: "AccessDenied" } }],
      `${path} is on record`,
    );
    t.notMatch(JSON.stringify(leaves), /a-session-of-the-dashboard/);
  }
  t.match(await ask("GET", "/?nothing-like-this", { cookie: COOKIE }), {
    ...{ status: 501, headers: GUARD },
  });
});

t.test("the engine never sees a cookie: one that is signed is refused by its name", async (t) => {
  const beside = { ...(await signed("GET", page)), cookie: COOKIE };
  t.equal((await ask("GET", page, beside)).status, 200, "one beside the signature is nothing");
  const within = await signed("GET", page, { cookie: COOKIE });
  t.match(within["authorization"], /SignedHeaders=[^,]*cookie/);
  t.match(await ask("GET", page, within), {
    status: 400,
    text: /header cookie is signed/,
  });
});

t.test(
  "a page of the dashboard reads and stores by a signed URL, and no other page does",
  async (t) => {
    const key = "data/from-a-page.bin";
    const store = front.storeOf(user);
    const url = new URL(await store.presignGet(user.bucket, key, "", 60));
    const path = `${url.pathname}${url.search}`;
    const origin = (value: string) => ({ origin: value });
    const question = await ask("OPTIONS", path, origin(PAGE_ORIGIN));
    t.match(question, {
      status: 204,
      headers: {
        ...{
          "access-control-allow-origin": PAGE_ORIGIN,
          "access-control-allow-methods": "GET, PUT",
        },
        "access-control-allow-credentials": undefined,
      },
    });
    t.match((await ask("GET", path, origin(PAGE_ORIGIN))).headers, {
      ...{ "access-control-allow-origin": PAGE_ORIGIN, "access-control-expose-headers": "ETag" },
    });
    for (const [what, asked] of [
      ["another origin", ask("OPTIONS", path, origin("https://elsewhere.example"))],
      ["the same host at another port", ask("OPTIONS", path, origin("https://appliance.example"))],
      ["an address that nobody signed", ask("OPTIONS", url.pathname, origin(PAGE_ORIGIN))],
      [
        "a signature in a header",
        ask("GET", page, { ...(await signed("GET", page)), ...origin(PAGE_ORIGIN) }),
      ],
    ] as const)
      t.equal((await asked).headers["access-control-allow-origin"], undefined, what);
  },
);
