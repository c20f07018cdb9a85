import t from "tap";
import { isPage, isSource } from "../build/paths-of-sources.ts";
import { fromUpstream, toUpstream } from "../build/rewritten-headers.ts";

const origins = { own: "https://localhost:5173", upstream: new URL("https://gpu.example:8000") };

t.test("an appliance takes a request of a developer's page for one of its own", async (t) => {
  const headers = toUpstream(
    {
      ...{ ":method": "POST", host: "localhost:5173", connection: "keep-alive" },
      ...{ origin: "https://localhost:5173", referer: "https://localhost:5173/dashboard/jobs" },
      ...{ cookie: "__Host-rt=x", "x-rt-csrf": "y", "accept-encoding": "gzip, br" },
    },
    origins,
  );
  t.same(headers, {
    ...{ host: "gpu.example:8000", connection: "keep-alive", "accept-encoding": "identity" },
    ...{ origin: "https://gpu.example:8000", referer: "https://gpu.example:8000/dashboard/jobs" },
    ...{ cookie: "__Host-rt=x", "x-rt-csrf": "y" },
  });
});

t.test("a request of another page stays one of another page", async (t) => {
  for (const other of ["https://elsewhere.example", "https://localhost:51730", "null"])
    t.match(toUpstream({ origin: other, referer: `${other}/x` }, origins), {
      ...{ origin: other, referer: `${other}/x` },
    });
});

t.test(
  "where an appliance leads within itself, a browser stays with the developer's pages",
  async (t) => {
    const led = (location: string) => fromUpstream({ location }, origins)["location"];
    t.equal(
      led("https://gpu.example:8000/realms/x?redirect_uri=https%3A%2F%2Fgpu.example%3A8000%2F"),
      "https://localhost:5173/realms/x?redirect_uri=https%3A%2F%2Fgpu.example%3A8000%2F",
    );
    t.equal(led("/auth/sign-in"), "/auth/sign-in");
    t.equal(led("https://gpu.example:80001/"), "https://gpu.example:80001/");
    t.equal(led("https://gpu.example:3900/b/k"), "https://gpu.example:3900/b/k");
  },
);

t.test("what holds for a connection or a whole host is not handed on", async (t) => {
  const headers = { "transfer-encoding": "chunked", connection: "close", "set-cookie": ["a=b"] };
  t.same(fromUpstream({ ...headers, "strict-transport-security": "max-age=1" }, origins), {
    "set-cookie": ["a=b"],
  });
});

t.test("sources are the developer's, everything else is the appliance's", async (t) => {
  for (const path of ["/src/main.tsx", "/@vite/client", "/@fs/x.ts", "/node_modules/.vite/d.js"])
    t.ok(isSource(path), path);
  for (const path of [
    "/api/session",
    "/auth/sign-in",
    "/assets/plain.css",
    "/realms/x",
    "/",
    "/srcs",
  ])
    t.notOk(isSource(path) || isPage(path), path);
  for (const path of ["/dashboard", "/dashboard/jobs/1", "/dashboard?a"]) t.ok(isPage(path), path);
  t.notOk(isPage("/dashboards"));
});
