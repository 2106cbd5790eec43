export * from "npm:@langchain/openai@1.6.0";
