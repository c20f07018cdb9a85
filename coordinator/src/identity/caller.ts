import type { KeyScope } from "@resontech/contracts/http-identity";

/** Whom a platform key speaks for. */
export type Caller = {
  keyId: string;
  userId: string;
  projectId: string;
  scopes: readonly KeyScope[];
  isAdmin: boolean;
};
