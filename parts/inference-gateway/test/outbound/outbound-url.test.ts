import t from "tap";
import { readOutboundUrl } from "../../src/outbound/outbound-url.ts";

t.test("a URL says host, port and path, however the host is spelt", async (t) => {
  t.same(readOutboundUrl("https://Data.Example.org/a?b=c#d"), {
    ...{ host: "data.example.org", port: 443, authority: "data.example.org", path: "/a?b=c" },
  });
  t.match(readOutboundUrl("https://0x7f.1:8443/"), { host: "127.0.0.1", port: 8443 });
  t.match(readOutboundUrl("https://[::1]/"), { host: "::1", port: 443 });
});

t.test("what is no https, or holds a password, is refused", async (t) => {
  for (const text of [
    ...["http://data.example.org/", "file:///etc/passwd", "ftp://a/", "//a/b", "", "no url"],
    ...[
      "https://user@a.example/",
      "https://user:pass@a.example/",
      `https://a/${"x".repeat(9_000)}`,
    ],
  ])
    t.throws(() => readOutboundUrl(text), { code: "url_invalid" }, text.slice(0, 40));
});
