/**
 * An upgrade to a release with another Keycloak, and its rollback: the older Keycloak comes back with the database that it had, and whoever lost something
 * under the newer one does not get it back. One person stays as she was, one was disabled, one got another password, one is new.
 *
 *     npm run prove -- returned-people
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import type { BundleSummary, LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { TestReleases } from "./life/test-releases.ts";
import { verifyLife } from "./life/verify-life.ts";

/** The newest one of the line before: its database has another schema. */
const OLDER_KEYCLOAK = {
  version: "26.6.4",
  sha256: "386b566bbea05527226e275c43e5cf6f218896ad2441ac4be5c39f1226772e8f",
};
const STAYS = "stays";
const DISABLED = "disabled";
const CHANGED = "changed";
const NEW = "new-since";

type SignIn = "in" | "refused" | "new password";

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using releases = new TestReleases();
  progress(`building a release with Keycloak ${OLDER_KEYCLOAK.version}, and this one`);
  const older = await releases.ofThis("older", {
    ...{ version: "0.1.0", releaseNumber: 1, keycloak: OLDER_KEYCLOAK },
  });
  const newer = await releases.ofThis("newer", { version: "0.2.0", releaseNumber: 2 });
  const installed = await ProofAppliance.install(progress, older);
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    live(installed, { older, newer }, progress),
  );
  const { before, since, after, keycloaks } = figures;
  return {
    ok:
      keycloaks.join() === `${OLDER_KEYCLOAK.version},26.7.3,${OLDER_KEYCLOAK.version}` &&
      before === 3 &&
      since[STAYS] === "in" &&
      since[DISABLED] === "refused" &&
      since[CHANGED] === "refused" &&
      after[STAYS] === "in" &&
      after[DISABLED] === "refused" &&
      after[CHANGED] === "refused" &&
      after[NEW] === "refused" &&
      figures.reset === "new password" &&
      isVerified(figures.audit) &&
      left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function live(
  installed: ProofAppliance,
  { older, newer }: Record<"older" | "newer", BundleSummary>,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  const browser = await launchApplianceBrowser(appliance);
  try {
    const people = new People(browser, appliance);
    const keycloaks = [keycloakOf(appliance)];
    progress("three people sign in for the first time");
    for (const name of [STAYS, DISABLED, CHANGED]) {
      await appliance.command(["add-user", name]);
      await people.begin(name);
    }
    progress("a newer release; one is disabled, one gets another password, one comes");
    const from = Date.now();
    await appliance.upgrade(newer.bundle);
    const upgradeS = (Date.now() - from) / 1_000;
    keycloaks.push(keycloakOf(appliance));
    await appliance.command(["user", "disable", DISABLED]);
    await appliance.command(["user", "password", CHANGED, "--json"]);
    await appliance.command(["add-user", NEW]);
    await people.begin(NEW);
    const since = {
      [STAYS]: await people.signIn(STAYS),
      [DISABLED]: await people.signIn(DISABLED),
      [CHANGED]: await people.signIn(CHANGED),
    };
    progress(`  ${JSON.stringify(since)}`);
    progress("and back");
    const backFrom = Date.now();
    await appliance.command(["rollback", "--yes"]);
    const rollbackS = (Date.now() - backFrom) / 1_000;
    keycloaks.push(keycloakOf(appliance));
    const after: Record<string, SignIn> = {};
    for (const name of [STAYS, DISABLED, CHANGED, NEW]) after[name] = await people.signIn(name);
    progress(`  ${JSON.stringify(after)}`);
    const { password } = JSON.parse(
      await appliance.command(["user", "password", CHANGED, "--json"]),
    ) as { password: string };
    const reset = await people.signIn(CHANGED, password);
    return {
      ...{ keycloaks, before: 3, since, after, reset },
      upgrade_s: Math.round(upgradeS),
      rollback_s: Math.round(rollbackS),
      audit: await verifyLife(installed, [older, newer]),
    };
  } finally {
    await browser.close();
  }
}

function keycloakOf({ root }: LocalAppliance): string {
  const { engines } = JSON.parse(
    readFileSync(join(root, "current", "release-manifest.json"), "utf8"),
  ) as { engines: Record<string, { version: string }> };
  return engines["keycloak"]?.version ?? "none";
}

/** Who signs in by a password alone, each time in a browser that knows nobody. */
class People {
  readonly #browser: Browser;
  readonly #appliance: LocalAppliance;
  readonly #passwords = new Map<string, string>();

  constructor(browser: Browser, appliance: LocalAppliance) {
    this.#browser = browser;
    this.#appliance = appliance;
  }

  /** The first sign-in, with a password of one's own from then on. */
  async begin(name: string): Promise<void> {
    const { password } = JSON.parse(
      await this.#appliance.command(["user", "password", name, "--json"]),
    ) as { password: string };
    const own = `a-password-of-${name}-alone`;
    const said = await this.signIn(name, password, own);
    if (said !== "in") throw new Error(`${name} does not get in: ${said}`);
    this.#passwords.set(name, own);
  }

  /** @param password the person's own unless said @param own what to choose where another one is asked for */
  async signIn(
    name: string,
    password = this.#passwords.get(name) ?? "",
    own?: string,
  ): Promise<SignIn> {
    const { RESON_BASE_URL: base = "" } = this.#appliance.quickstart();
    const context = await this.#browser.newContext({ ignoreHTTPSErrors: true });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${base}/`);
      await page.fill("#username", name);
      await page.fill("#password", password);
      await page.click("#kc-login");
      const inside = page.getByRole("navigation", { name: "Pages" });
      const asked = page.locator("#password-new");
      const refused = page.locator("[id^=input-error], .kc-feedback-text, .pf-m-danger").first();
      await inside.or(asked).or(refused).first().waitFor();
      if (await inside.isVisible()) return "in";
      if (!(await asked.isVisible())) return "refused";
      if (own === undefined) return "new password";
      await asked.fill(own);
      await page.fill("#password-confirm", own);
      await page.click("input[type=submit], button[type=submit]");
      await inside.waitFor();
      return "in";
    } finally {
      await context.close();
    }
  }
}
