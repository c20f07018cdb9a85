import t from "tap";
import { operatorHttpRequest } from "../../src/control/operator-route.ts";
import { OPERATOR_ROUTES } from "../../src/control/operator-routes.ts";

t.test("each field of a request goes to its one place", async (t) => {
  t.same(operatorHttpRequest(OPERATOR_ROUTES["user-quota"], { username: "ada", bytes: 7 }), {
    ...{ method: "PUT", path: "/api/operator/users/ada/quota", body: { bytes: 7 } },
  });
  t.same(operatorHttpRequest(OPERATOR_ROUTES["job-list"], { living: false, limit: 5 }), {
    ...{ method: "GET", path: "/api/operator/jobs?living=false&limit=5", body: null },
  });
  t.same(operatorHttpRequest(OPERATOR_ROUTES["key-list"], {}), {
    ...{ method: "GET", path: "/api/operator/keys", body: null },
  });
  t.same(
    operatorHttpRequest(OPERATOR_ROUTES["policy-decisions"], { after: undefined }).body,
    {},
    "what is not said is left out",
  );
});

t.test("a name can't leave its place in a path", async (t) => {
  const { path } = operatorHttpRequest(OPERATOR_ROUTES["user-show"], { username: "../a?b/ü" });
  t.equal(path, "/api/operator/users/..%2Fa%3Fb%2F%C3%BC");
});

t.test(
  "no two places of a route have a field of the same name, and no two routes an address",
  async (t) => {
    const addresses = new Set<string>();
    for (const [verb, route] of Object.entries(OPERATOR_ROUTES)) {
      const { method, path } = route;
      addresses.add(`${method} ${path}`);
      const places = ["params", "query", "body"].flatMap((place) => {
        const schema = (route as Record<string, unknown>)[place];
        return Object.keys((schema as { properties?: object } | undefined)?.properties ?? {});
      });
      t.equal(new Set(places).size, places.length, verb);
      const named = [...path.matchAll(/:([A-Za-z]+)/g)].map(([, field]) => field);
      t.same(named, Object.keys("params" in route ? route.params.properties : {}), verb);
    }
    t.equal(addresses.size, Object.keys(OPERATOR_ROUTES).length);
  },
);
