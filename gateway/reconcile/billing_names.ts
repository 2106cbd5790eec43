/**
 * What vendors name in one text: the model and the kind of tokens of a line of costs. Of AWS:
 * `USE1-Claude4.6Sonnet-input-tokens`, region, model, kind of tokens, tier or route
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/cost-mgmt-understanding-cur-data.html, read
 * 2026-11-28). Models sold as an edition have theirs in the name of the service:
 * `USE1-MP:USE1_input_tokens_global_standard-Units`.
 */

/** A usage type of AWS for tokens. */
const TOKENS = /token/i;
const REGION = /^[A-Z]{2,5}\d{0,2}-/;
const KIND = /-(?:mantle-)?(?:text-)?(?:cache-?(?:read|write)|input|output)/i;
const EDITION = / \(Amazon Bedrock Edition\)$/;

/** The model of a line of AWS; undefined if the line is for nothing of a model's tokens. */
export function awsModel(
  usageType: string,
  service: string,
): string | undefined {
  if (!TOKENS.test(usageType)) return undefined;
  if (EDITION.test(service)) return service.replace(EDITION, "");
  const text = usageType.replace(REGION, "");
  const end = text.search(KIND);
  return end < 0 ? text : text.slice(0, end);
}

/** The model of a line item of OpenAI, such as `gpt-5.5-2026-04-23, input_tokens`. */
export function lineItemModel(lineItem: string): string {
  return lineItem.replace(/, [^,]*$/, "");
}

/**
 * The same key for all ways to write a model's name: `us.anthropic.claude-sonnet-4-6-20260501-v1:0`,
 * `Claude Sonnet 4.6`, `Claude4.6Sonnet`. Numbers keep their order, words need not.
 */
export function modelKey(name: string): string {
  const bare = name.toLowerCase()
    .replace(/^.*\//, "")
    .replace(/^(?:[a-z-]+\.)+(?=[a-z])/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const words = bare.match(/[a-z]+/g) ?? [];
  return `${words.toSorted().join(" ")} ${
    (bare.match(/\d+/g) ?? []).join(".")
  }`;
}
