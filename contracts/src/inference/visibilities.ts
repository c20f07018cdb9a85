/** Who may call a deployment. `PUBLIC` means any platform key with the scope, never anybody. */
export const VISIBILITIES = ["PRIVATE", "PUBLIC"] as const;
