/** What of a task's spec says how much each of its members gets. Pure. */
import type { MemberAsk } from "../../kernel/decisions/resources.ts";

const MIB = 1024 ** 2;

/** Fields of a spec of any kind; absent as they are absent in a submission. */
export type MemberAskSpec = { workers?: number; cpus?: number; hostMemoryMb?: number };

/** @param spec of any kind of task @returns how many workers each of its members holds that holds any */
export function workersEachOf(spec: object | null): number {
  return askSpecOf(spec).workers ?? 1;
}

/** @param spec of any kind of task */
export function memberAskOf(spec: object | null): MemberAsk {
  const { cpus, hostMemoryMb } = askSpecOf(spec);
  return {
    cpuMillis: cpus === undefined ? null : cpus * 1000,
    memoryBytes: hostMemoryMb === undefined ? null : hostMemoryMb * MIB,
  };
}

type AskBody = {
  workersPerMember?: number;
  cpusPerMember?: number;
  hostMemoryMbPerMember?: number;
};

/** As a spec keeps what a submission says; of what is usual, nothing. */
export function askSpecOfBody(body: AskBody): MemberAskSpec {
  const { workersPerMember: workers = 1, cpusPerMember: cpus, hostMemoryMbPerMember } = body;
  return {
    ...(workers === 1 ? {} : { workers }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(hostMemoryMbPerMember === undefined ? {} : { hostMemoryMb: hostMemoryMbPerMember }),
  };
}

/** As the submission said it. @param spec of any kind of task */
export function askBodyOf(spec: object | null): AskBody {
  const { workers = 1, cpus, hostMemoryMb } = askSpecOf(spec);
  return {
    ...(workers === 1 ? {} : { workersPerMember: workers }),
    ...(cpus === undefined ? {} : { cpusPerMember: cpus }),
    ...(hostMemoryMb === undefined ? {} : { hostMemoryMbPerMember: hostMemoryMb }),
  };
}

function askSpecOf(spec: object | null): MemberAskSpec {
  return spec ?? {};
}
