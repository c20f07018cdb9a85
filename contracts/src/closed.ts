/** Nothing beyond what the schema names: it says what is sent. Readers of other releases open it (versions/readable.ts). */
export const closed = { additionalProperties: false } as const;
