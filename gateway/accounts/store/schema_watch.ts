/**
 * Whether a newer program has changed the store, as in a rolling upgrade, or before a return to an
 * older program. This one goes on with what it knows.
 */
import { schemaVersion } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import type { Store } from "./store.ts";

/** Schema versions of the store and of this program. */
export interface StoreSchema {
  readonly stored: number;
  readonly program: number;
}

export interface SchemaWatch {
  readonly schema: () => StoreSchema;
  /** Reads the store's version; a store that does not answer keeps the version that was read. */
  look(): Promise<void>;
}

/** @param onNewer called once for each version of a newer program */
export function watchSchema(
  { read }: Pick<Store, "read">,
  onNewer: (schema: StoreSchema) => void,
): SchemaWatch {
  const program = MIGRATIONS.length;
  let schema: StoreSchema = { stored: program, program };
  return {
    schema: () => schema,
    async look() {
      const stored = await schemaVersion({ all: read })
        .catch(() => schema.stored);
      if (stored === schema.stored) return;
      schema = { stored, program };
      if (stored > program) onNewer(schema);
    },
  };
}
