import { MemberFailure } from "../member-failure.ts";

export function invalidShard(why: string): MemberFailure {
  return new MemberFailure("shard_invalid", `the shard can't be used: ${why}`);
}
