/**
 * Keys, plans, balances, limits and the ledger. The request pipeline needs {@linkcode Accounts}, operators {@linkcode Admin}.
 *
 * @module
 */
export * from "./accounts.ts";
export * from "./admin.ts";
export * from "./open_accounts.ts";
export * from "./open_store.ts";
export type * from "./records.ts";
export type { ModelPrice } from "./money.ts";
export type { Store } from "./store.ts";
