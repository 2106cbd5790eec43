/**
 * A process that upgrades the store at the address in its first argument, and whose last step takes
 * long, so that a test can kill it in the middle.
 */
import { MIGRATIONS } from "../../../gateway/accounts/store/migrations.ts";
import { openStore } from "../../../gateway/accounts/store/open_store.ts";

const [url = "", slowStep = ""] = Deno.args;
await openStore(url, { migrations: [...MIGRATIONS, [slowStep]] });
