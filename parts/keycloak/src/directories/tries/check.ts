/** One thing that a try of a connection looked at. @property fault null where it is right; else what is wrong, and `todo` what to do */
export type Check = { what: string; fault: string | null; todo: string | null };

export function right(what: string): Check {
  return { what, fault: null, todo: null };
}

export function wrong(what: string, fault: string, todo: string): Check {
  return { what, fault, todo };
}
