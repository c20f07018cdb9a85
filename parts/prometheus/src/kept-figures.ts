/** How long figures are kept; fewer days where the bound of bytes is reached before. */
export const KEPT_DAYS = 15;
/** Seconds between two looks at what tells figures. */
export const LOOK_EVERY_S = 15;
