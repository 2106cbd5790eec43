/**
 * The form of a search or of filters. It is sent in the body, since what is entered may be a
 * credential.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import { SEARCHED_PAGE } from "../http/searched_page.ts";
import type { Children, JSX } from "../jsx.d.ts";

/** The form; `path` is the page that shows what is found. */
export function SearchForm(
  { visit, path, children, ...rest }: {
    readonly visit: Visit;
    readonly path: string;
    readonly class: string;
    readonly role?: "search";
    readonly children?: Children;
  },
): JSX.Element {
  const area = visit.session.kind === "operator"
    ? "/console/operator"
    : "/console";
  return (
    <form method="post" action={`${area}/search`} {...rest}>
      <input type="hidden" name="form_token" value={visit.formToken} />
      <input type="hidden" name={SEARCHED_PAGE} value={path} />
      {children}
    </form>
  );
}
