/** Login records as glibc writes them. */
import { isIPv4 } from "node:net";
import { UTMP_BYTES, UTMP_TYPE } from "../../src/host-sessions/decisions/utmp-record.ts";

export type Written = {
  type?: number;
  pid?: number;
  line?: string | Buffer;
  user?: string | Buffer;
  host?: string | Buffer;
  /** IPv4 with dots, or 16 bytes. */
  address?: string | Buffer;
  seconds?: number;
  microseconds?: number;
};

export function utmpBytes({
  type = UTMP_TYPE.userProcess,
  pid = 0,
  seconds = 0,
  microseconds = 0,
  ...text
}: Written): Buffer {
  const bytes = Buffer.alloc(UTMP_BYTES);
  const put = (value: string | Buffer, at: number, length: number): void => {
    Buffer.from(value).copy(bytes, at, 0, length);
  };
  bytes.writeInt16LE(type, 0);
  bytes.writeInt32LE(pid, 4);
  put(text.line ?? "", 8, 32);
  put(text.user ?? "", 44, 32);
  put(text.host ?? "", 76, 256);
  bytes.writeUInt32LE(seconds, 340);
  bytes.writeInt32LE(microseconds, 344);
  const { address = "" } = text;
  put(
    typeof address === "string" && isIPv4(address)
      ? Buffer.from(address.split(".").map(Number))
      : address,
    348,
    16,
  );
  return bytes;
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

export function signIn(pid: number, more: Written = {}): Buffer {
  return utmpBytes({ pid, line: `pts/${pid}`, user: "alice", seconds: nowSeconds(), ...more });
}

export function signOut(pid: number, more: Written = {}): Buffer {
  return utmpBytes({
    type: UTMP_TYPE.deadProcess,
    pid,
    line: `pts/${pid}`,
    seconds: nowSeconds(),
    ...more,
  });
}
