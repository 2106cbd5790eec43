export { createAzure } from "npm:@ai-sdk/azure@4.0.85";
