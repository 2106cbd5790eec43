import { compact } from "../../translate/bytes/compact.ts";
import type { OpenStoreOptions } from "../accounts/store/open_store.ts";
import { textSeal } from "../accounts/store/secret_seal.ts";
import type { Config } from "./config.ts";

/** The options with which the configured store is opened. */
export function storeOptions(
  { storeKey, databaseReadUrl }: Pick<Config, "storeKey" | "databaseReadUrl">,
): Pick<OpenStoreOptions, "secrets" | "readUrl"> {
  return {
    ...(storeKey === undefined ? {} : { secrets: textSeal(storeKey) }),
    ...compact({ readUrl: databaseReadUrl }),
  };
}
