import type { ReactNode } from "react";

/** A file of all that is held about a person. The appliance writes it as the browser takes it; its last line says that it is whole. */
export function PersonalDataLink({ userId, children }: { userId: string; children: ReactNode }) {
  return (
    <a href={`/api/people/${encodeURIComponent(userId)}/data`} download={`${userId}.jsonl`}>
      {children}
    </a>
  );
}
