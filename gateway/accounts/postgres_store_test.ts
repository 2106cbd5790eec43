import { accountsContract } from "./accounts_contract.ts";
import { processesContract } from "./processes_contract.ts";
import { storeContract } from "./store_contract.ts";
import { postgresAt } from "./testing/stores.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else {
  const POSTGRES = postgresAt(serverUrl);
  storeContract(POSTGRES);
  accountsContract(POSTGRES);
  processesContract(POSTGRES);
}
