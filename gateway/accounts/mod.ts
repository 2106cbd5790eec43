/**
 * Keys, plans, balances, limits and the ledger. The request pipeline uses
 * {@linkcode Accounts}; the admin API and the command line use {@linkcode Admin}.
 */
export * from "./accounts.ts";
export * from "./repositories/admin.ts";
export * from "./service.ts";
export * from "./store/open_store.ts";
export type * from "./records.ts";
export type { ModelPrice } from "./charges/money.ts";
export type { Store } from "./store/store.ts";
