import type { JSX } from "../jsx.d.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import { SelectField } from "../forms/field.tsx";

/** What a link or token lets its holder do. */
export function ScopeField({ visit }: { readonly visit: Visit }): JSX.Element {
  return (
    <SelectField
      visit={visit}
      name="scope"
      title="Scope"
      value="read"
      choices={[["read", "read: look"], ["manage", "manage: keys, too"]]}
    />
  );
}
