/** Which person of this host runs a command: the log keeps the name as a commitment (`actor.sid`), so that it can be erased. */
import { readFileSync } from "node:fs";
import { loginOf } from "./decisions/login-of.ts";

/** Tells who runs this command; null where nobody signed in: a unit at the boot, a container. */
export function hostPerson(): string | null {
  return loginOf(
    readText("/proc/self/loginuid"),
    process.env["SUDO_USER"] ?? null,
    readText("/etc/passwd"),
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
