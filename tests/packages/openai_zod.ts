// Apart from `openai.ts`: needs zod, which not every program with that library has.
export { zodTextFormat } from "npm:openai@7.59.0/helpers/zod";
