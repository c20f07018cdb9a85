import { KeycloakUnreachableError } from "@resontech/keycloak/address";
import t from "tap";
import { whileUnreachable } from "../../src/keycloak/while-unreachable.ts";

const away = () => new KeycloakUnreachableError("Keycloak did not answer");

t.test("what Keycloak did not answer is done again until it does", async (t) => {
  let tries = 0;
  const said = await whileUnreachable(
    async () => {
      tries += 1;
      if (tries < 3) throw away();
      return "done";
    },
    { pauseMs: 1 },
  );
  t.same([said, tries], ["done", 3]);
});

t.test("a Keycloak that stays away, or refuses, is told", async (t) => {
  await t.rejects(
    whileUnreachable(() => Promise.reject(away()), { limitMs: 5, pauseMs: 1 }),
    { code: "identity_unavailable" },
  );
  let tries = 0;
  const refused = () => {
    tries += 1;
    return Promise.reject(new Error("refused"));
  };
  await t.rejects(whileUnreachable(refused, { pauseMs: 1 }), /refused/);
  t.equal(tries, 1);
});
