/** Runs in a process of its own: its types of Node would replace Deno's. */
export const OIDC_PROVIDER = "npm:oidc-provider@9.13.3";
