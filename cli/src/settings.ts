/** Who asks, and of whom: the names that the public Python client reads, so one quickstart block serves both. */
import { readFileSync } from "node:fs";
import { CliError } from "./cli-error.ts";

export type Settings = {
  baseUrl: URL;
  /** A platform key. It comes from the environment alone: arguments can be read by everybody on a host. */
  apiKey: string;
  /** PEM of whom to trust; null: whom Node trusts. */
  ca: string | null;
};

const QUICKSTART = "Paste the [sdk quickstart] block of your credentials into the shell.";
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** @throws CliError `not_configured`, `url_invalid`, `ca_unreadable` */
export function settingsFrom(env: NodeJS.ProcessEnv): Settings {
  const { RESON_API_KEY: apiKey = "", RESON_BASE_URL: base = "", SSL_CERT_FILE: caFile = "" } = env;
  if (apiKey === "" || base === "")
    throw new CliError(
      "not_configured",
      "RESON_API_KEY and RESON_BASE_URL are not set",
      QUICKSTART,
    );
  const baseUrl = URL.canParse(base) ? new URL(base) : null;
  if (
    baseUrl === null ||
    (baseUrl.protocol !== "https:" &&
      !(baseUrl.protocol === "http:" && LOOPBACK.test(baseUrl.hostname)))
  )
    throw new CliError(
      "url_invalid",
      "RESON_BASE_URL is no https: address",
      "A key is sent over TLS alone; plain HTTP is for loopback.",
    );
  return { baseUrl, apiKey, ca: caFile === "" ? null : readCa(caFile) };
}

function readCa(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new CliError(
      "ca_unreadable",
      `SSL_CERT_FILE names ${file}, which can't be read`,
      "`appliance ca show` says where it is.",
    );
  }
}
