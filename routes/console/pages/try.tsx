/**
 * One prompt, tried in the browser. The API key is pasted into the page and stays in its memory:
 * the session calls no model.
 */
import { accountModels } from "../../../gateway/console/account_models.ts";
import { generates } from "../../../gateway/upstream/catalogue/models.ts";
import type { AccountVisit } from "../../../gateway/console/visit.ts";
import type { HttpReply } from "../../../gateway/http/http_reply.ts";
import type { AccountPageRoute, RouteContext } from "../../route.ts";
import { baseUrl } from "../http/base_url.ts";
import { page } from "../parts/layout.tsx";
import { Snippet } from "../parts/snippet.tsx";
import { accountPageRoute } from "../http/page_route.ts";

/** A prompt and its reply; a curl line where no script runs. */
export const TRY_PAGE: AccountPageRoute = accountPageRoute(
  "look",
  "GET",
  "/console/try",
  tryPage,
);

async function tryPage(
  context: RouteContext,
  visit: AccountVisit,
): Promise<HttpReply> {
  const { admin, models: registry, now } = context.gateway;
  const models = (await accountModels(admin, registry, visit.holder, now()))
    .filter(({ refusal, model }) => refusal === undefined && generates(model))
    .map(({ model }) => model);
  const model = models[0]?.id ?? "MODEL";
  return page(
    context,
    visit,
    {
      title: "Try",
      about: "A call from this page, charged like any other.",
    },
    <>
      <section class="card" data-terminal>
        <p>Without JavaScript, use a terminal:</p>
        <Snippet
          id="try-line"
          title="A streamed call"
          text={`curl -N ${
            baseUrl(context)
          }/v1/messages -H "x-api-key: $GATEWAY_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model": "${model}", "max_tokens": 500, "stream": true, "messages": [{"role": "user", "content": "Hello"}]}'`}
        />
      </section>
      <form class="card form" method="post" data-try hidden>
        <label>
          API key
          <small>Stays in this page; it is not stored.</small>
          <input type="password" name="key" autocomplete="off" required />
        </label>
        <label>
          Model
          <select name="model">
            {models.map(({ id, displayName }) => (
              <option key={id} value={id}>{displayName}</option>
            ))}
          </select>
        </label>
        <label>
          Prompt
          <textarea name="prompt" rows="4" required>Hello</textarea>
        </label>
        <div class="acts">
          <button class="main" type="submit">Send</button>
          <button type="button" data-stop disabled>Stop</button>
        </div>
      </form>
      <section class="card" data-reply hidden aria-live="polite">
        <h2>Reply</h2>
        <pre tabIndex={0} aria-label="Reply" data-reply-text></pre>
        <p class="soft" data-reply-state></p>
      </section>
    </>,
  );
}
