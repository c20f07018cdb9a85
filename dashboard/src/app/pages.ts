/** Pages of the navigation: where each is, and which action of the API it needs. */
export type PageEntry = { path: string; title: string; action: string };

export const PAGES: readonly PageEntry[] = [{ path: "/jobs", title: "Jobs", action: "job.list" }];
