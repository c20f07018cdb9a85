import type { AgentReason } from "@resontech/contracts/job-reasons";
import { MemberFailure } from "../member-failure.ts";
import type { ThrownError } from "./tasks.ts";

export function toThrown(error: unknown): ThrownError {
  if (!(error instanceof Error)) return { message: String(error) };
  const text = (name: "code" | "syscall"): string | undefined => {
    const value: unknown =
      name in error ? (error as Error & Record<string, unknown>)[name] : undefined;
    return typeof value === "string" ? value : undefined;
  };
  const [code, syscall] = [text("code"), text("syscall")];
  return {
    message: error.message,
    ...(error instanceof MemberFailure ? { reason: error.reason } : {}),
    ...(error instanceof MemberFailure && error.detail !== undefined
      ? { detail: error.detail }
      : {}),
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
  };
}

export function fromThrown({ message, reason, detail, code, syscall }: ThrownError): Error {
  if (reason !== undefined) return new MemberFailure(reason as AgentReason, message, detail);
  return Object.assign(new Error(message), {
    ...(code === undefined ? {} : { code }),
    ...(syscall === undefined ? {} : { syscall }),
  });
}
