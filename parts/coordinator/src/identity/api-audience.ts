/** Whom tokens for the API name as their audience: the realm says so, and a sign-in checks it. */
export const API_AUDIENCE = "resontech-api";
