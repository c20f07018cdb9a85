import t from "tap";
import { urlIn } from "../src/named-url.ts";

const inText = (text: string) => urlIn(Buffer.from(text));

t.test("a body names a url where it is an object that has one", async (t) => {
  t.equal(inText('{"url":"https://a/"}'), "https://a/");
  t.equal(inText('{"url":"https://a/","data_b64":"aGk="}'), "https://a/");
  for (const text of [
    '{"data_b64":"aGk="}',
    "[]",
    "null",
    '"url"',
    "{",
    "",
    '{"__proto__":{"url":"x"}}',
  ])
    t.equal(inText(text), null, text);
  t.throws(() => inText('{"url":7}'), { code: "url_invalid" });
});
