/** The most workers that one member holds. */
export const MAX_WORKERS_EACH = 256;
