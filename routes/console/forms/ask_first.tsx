/**
 * A press that cannot be taken back, or that stops calls, is asked again on a page of its own.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import type { JSX } from "../jsx.d.ts";
import { FormToken, page } from "../parts/layout.tsx";

const ASK = "ask";

/** Marks the form that is asked again. */
export function AskFirst(): JSX.Element {
  return <input type="hidden" name={ASK} value="yes" />;
}

type Handle<V extends Visit> = (
  context: RouteContext,
  visit: V,
) => Promise<HttpReply>;

/** Sends the form on only where it comes from the page that asks. */
export function askingFirst<V extends Visit>(
  handle: Handle<V>,
  question: (context: RouteContext, visit: V) => {
    readonly title: string;
    /** What happens. */
    readonly text: string;
    /** The page to go back to. */
    readonly back: string;
  },
): Handle<V> {
  return (context, visit) => {
    if (!visit.form.has(ASK)) return handle(context, visit);
    const { title, text, back } = question(context, visit);
    const fields = [...visit.form].filter(([name]) =>
      name !== ASK && name !== "form_token"
    );
    return Promise.resolve(page(
      context,
      visit,
      { title: `${title}?`, nav: back },
      <form class="card form" method="post" action={context.path}>
        <FormToken visit={visit} />
        {fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <p>{text}</p>
        <div class="acts">
          <button class="danger" type="submit">{title}</button>
          <a class="button" href={back}>Cancel</a>
        </div>
      </form>,
    ));
  };
}
