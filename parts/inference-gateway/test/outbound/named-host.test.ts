import t from "tap";
import { outboundHostText, readOutboundHost } from "../../src/commands/named-host.ts";

t.test("a host is read as a URL would spell it", async (t) => {
  for (const [text, host, port] of [
    ["data.example.org", "data.example.org", 443],
    ["Data.Example.org:8443", "data.example.org", 8443],
    ["10.2.3.4", "10.2.3.4", 443],
    ["[fd00::1]:9000", "fd00::1", 9000],
    ["bücher.example", "xn--bcher-kva.example", 443],
  ] as const) {
    t.same(readOutboundHost(text), { host, port }, text);
    t.same(readOutboundHost(outboundHostText({ host, port })), { host, port });
  }
});

t.test("what is no single host is none", async (t) => {
  for (const text of [
    ...["", "https://a.example", "a.example/path", "user@a.example", "*.example.org", "a b"],
    ...["a.example:0x50", "a.example:99999", "a?b", "a#b", "::1"],
  ])
    t.equal(readOutboundHost(text), null, text);
});
