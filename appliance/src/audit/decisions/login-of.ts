/** Of an audit session that no sign-in began: man 5 proc_pid_loginuid. */
const UNSET = 4_294_967_295;
const MAX_NAME = 64;

/**
 * The login that the kernel keeps for the session, which sudo does not change, else the name that sudo passes on; where they differ, both.
 * @param loginUid text of `/proc/self/loginuid`
 * @param passwd text of `/etc/passwd`; a user of a directory service is told by number
 */
export function loginOf(loginUid: string, sudoUser: string | null, passwd: string): string | null {
  const uid = /^\d+$/.test(loginUid.trim()) ? Number(loginUid) : UNSET;
  const login = uid === UNSET ? null : (nameOf(uid, passwd) ?? `uid ${uid}`);
  const sudo = sudoUser === null || sudoUser === "" ? null : printable(sudoUser);
  if (login === null) return sudo;
  return sudo === null || sudo === login ? login : `${login} (sudo: ${sudo})`;
}

function nameOf(uid: number, passwd: string): string | null {
  const line = passwd.split("\n").find((each) => each.split(":")[2] === String(uid));
  return line === undefined ? null : printable(line.split(":")[0]!);
}

function printable(name: string): string {
  return name.replaceAll(/[^\x21-\x7e]/g, "?").slice(0, MAX_NAME);
}
