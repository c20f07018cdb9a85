/** What the appliance gives out for a laptop: files of `app/downloads/` in the release, below `/dashboard/downloads/`. */
export const CLI_DOWNLOADS = { executable: "resontech", digest: "resontech.sha256" } as const;
