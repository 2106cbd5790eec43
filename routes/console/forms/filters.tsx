/**
 * The filters of a list: fields of its form, and parameters of its address. A refused one stands in
 * the form with what is wrong with it.
 */
import type { JSX } from "../jsx.d.ts";
import type { AccountScope } from "../../../gateway/admin/account_scope.ts";
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import { DayInput } from "./day_input.tsx";
import { type Choice, FieldProblem, SelectField, TextField } from "./field.tsx";
import { type Page, page } from "../parts/layout.tsx";
import { SearchForm } from "../parts/search_form.tsx";
import {
  meantFilters,
  SuggestedInput,
  type SuggestedName,
  suggestionLists,
} from "./suggested_filters.tsx";

export type Filter =
  | { readonly of: "text"; readonly name: string; readonly title: string }
  | { readonly of: "suggested"; readonly name: SuggestedName }
  | {
    readonly of: "day" | "month";
    readonly name: string;
    readonly title: string;
  }
  | { readonly of: "flag"; readonly name: string; readonly title: string }
  | {
    readonly of: "choice";
    readonly name: string;
    readonly title: string;
    readonly choices: readonly Choice[];
  };

/** The first and the last day of a list. */
export const PERIOD: readonly Filter[] = [
  { of: "day", name: "from", title: "From (UTC)" },
  { of: "day", name: "to", title: "To (UTC)" },
];

/** The filters with suggestions that a visitor's lists have. */
export function suggestedFilters(
  { accountId, keyId }: Partial<AccountScope>,
): readonly Filter[] {
  const names: readonly SuggestedName[] = [
    ...accountId === undefined ? ["account" as const] : [],
    "model",
    ...keyId === undefined ? ["key" as const] : [],
  ];
  return names.map((name) => ({ of: "suggested", name }));
}

interface FilteredPage extends Page {
  readonly filters: readonly Filter[];
  /** Whose list it is; absent: that of all accounts. */
  readonly scope?: Partial<AccountScope>;
  /** Values of filters that the address does not give. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/**
 * A page with a list. What was meant by a part of an id or a name is looked up first; while a
 * filter is refused, there is no list.
 */
export async function filteredPage(
  context: RouteContext,
  visit: Visit,
  { filters, scope = {}, defaults = {}, ...options }: FilteredPage,
  list: () => Promise<JSX.Element>,
): Promise<HttpReply> {
  const { path, query } = context;
  const suggested = filters.flatMap((one) =>
    one.of === "suggested" ? [one.name] : []
  );
  const isRefused = visit.problem !== undefined;
  const { redirect, note } = isRefused
    ? { note: null }
    : await meantFilters(context, scope, [...suggested, "user"]);
  if (redirect !== undefined) return redirect;
  const content = isRefused ? null : await list();
  // Without a refused parameter that is no filter: an unknown one, or an order.
  const kept = [...query].filter(([name, value]) =>
    value !== "" && !PLACES.includes(name) &&
    !filters.some((one) => one.name === name) &&
    (!isRefused || ![undefined, name].includes(visit.problem?.field))
  ).map(([name, value]) => [name, value] as [string, string]);
  return page(
    context,
    visit,
    options,
    <>
      <SearchForm visit={visit} class="card row" path={path}>
        {await suggestionLists(context, scope, suggested)}
        {filters.map((filter) => (
          <FilterInput
            visit={visit}
            filter={filter}
            value={query.get(filter.name)?.trim() ??
              defaults[filter.name] ?? ""}
          />
        ))}
        {kept.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <button class="main" type="submit">Apply</button>
        {isRefused || filters.some(({ name }) => query.get(name))
          ? (
            <a
              href={kept.length === 0
                ? path
                : `${path}?${new URLSearchParams(kept)}`}
            >
              Clear the filters
            </a>
          )
          : null}
      </SearchForm>
      {note}
      {content}
    </>,
  );
}

function FilterInput(
  { visit, filter, value }: {
    readonly visit: Visit;
    readonly filter: Filter;
    readonly value: string;
  },
): JSX.Element {
  const { name } = filter;
  switch (filter.of) {
    case "suggested":
      return <SuggestedInput visit={visit} name={filter.name} value={value} />;
    case "text":
      return (
        <TextField
          visit={visit}
          name={name}
          title={filter.title}
          value={value}
          placeholder="all"
        />
      );
    case "choice":
      return (
        <SelectField
          visit={visit}
          name={name}
          title={filter.title}
          value={value}
          choices={[["", "all"], ...filter.choices]}
        />
      );
    case "day":
    case "month":
      return (
        <label>
          {filter.title}
          <DayInput visit={visit} name={name} value={value} of={filter.of} />
          <FieldProblem visit={visit} name={name} />
        </label>
      );
    case "flag":
      return (
        <label>
          <input
            type="checkbox"
            name={name}
            value="yes"
            checked={value !== ""}
          />
          {filter.title}
        </label>
      );
  }
}

/** Where in a list a page begins: other filters or another order begin at its start. */
const PLACES: readonly string[] = ["after", "page"];

/** The query of a file with the lines of a page's filters: `?…`, or nothing. */
export function fileQuery({ query }: Pick<RouteContext, "query">): string {
  const search = new URLSearchParams(
    [...query].filter(([name, value]) =>
      value !== "" && name !== "sort" && !PLACES.includes(name)
    ),
  );
  return search.size === 0 ? "" : `?${search}`;
}

/** The address of the page that goes on after a place. */
export function placeLink(
  { path, query }: Pick<RouteContext, "path" | "query">,
  after: string,
): string {
  const search = new URLSearchParams(query);
  search.set("after", after);
  return `${path}?${search}`;
}
