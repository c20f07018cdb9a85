/** Names of people that may stand in a log: those who use the appliance, and those of the host. */
import { readFileSync } from "node:fs";
import type { AskOperator } from "@resontech/contracts/operator-routes";

/** Numbers that distributions give to people. */
const FIRST_PERSON = 1_000;
const LAST_PERSON = 60_000;

/** Users, and the names of buckets, which have a user's or a project's name in them. Null while the coordinator does not answer. */
export async function knownPeople(ask: AskOperator): Promise<string[] | null> {
  try {
    const { users } = await ask("user-list");
    const { projects } = await ask("project-list");
    return [
      ...users.flatMap(({ username, bucket }) =>
        bucket === null ? [username] : [username, bucket],
      ),
      ...projects.flatMap(({ bucket, leads }) => [bucket, ...leads]),
    ];
  } catch {
    return null;
  }
}

/** Logins of `/etc/passwd`, and the full names beside them. */
export function hostPeople(passwd = readFileSync("/etc/passwd", "utf8")): string[] {
  return passwd.split("\n").flatMap((line) => {
    const [login = "", , uid, , gecos = ""] = line.split(":");
    const number = Number(uid);
    if (!(number >= FIRST_PERSON && number < LAST_PERSON)) return [];
    return [login, gecos.split(",")[0]!].filter((name) => name !== "");
  });
}
