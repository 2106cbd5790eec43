/**
 * A press that cannot be taken back, or that stops calls, is asked again on a page of its own.
 */
import type { Visit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { RouteContext } from "../../route.ts";
import type { Children, JSX } from "../jsx.d.ts";
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

export interface Question {
  readonly title: string;
  /** What happens. */
  readonly text: Children;
  /** The page to go back to. */
  readonly back: string;
  /** Text of the button where nothing is lost; absent: the title. */
  readonly button?: string;
}

/** Sends the form on only where it comes from the page that asks. */
export function askingFirst<V extends Visit>(
  handle: Handle<V>,
  question: (context: RouteContext, visit: V) => Question | Promise<Question>,
): Handle<V> {
  return async (context, visit) => {
    if (!visit.form.has(ASK)) return await handle(context, visit);
    const { title, text, back, button } = await question(context, visit);
    const fields = [...visit.form].filter(([name]) =>
      name !== ASK && name !== "form_token"
    );
    return page(
      context,
      visit,
      { title: `${title}?`, nav: back },
      <form class="card form" method="post" action={context.path}>
        <FormToken visit={visit} />
        {fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {typeof text === "string" ? <p>{text}</p> : text}
        <div class="acts">
          <button
            class={button === undefined ? "danger" : "main"}
            type="submit"
            autofocus={button !== undefined}
          >
            {button ?? title}
          </button>
          <a class="button" href={back}>Cancel</a>
        </div>
      </form>,
    );
  };
}
