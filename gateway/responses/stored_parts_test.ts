import { postgresAt, SQLITE } from "../accounts/testing/stores.ts";
import { storedPartsSpec } from "./stored_parts_spec.ts";

const serverUrl = Deno.env.get("TEST_POSTGRES_URL");

storedPartsSpec(SQLITE);
if (serverUrl === undefined) {
  Deno.test.ignore(
    "postgres: SKIPPED, because TEST_POSTGRES_URL names no server",
    () => {},
  );
} else storedPartsSpec(postgresAt(serverUrl));
