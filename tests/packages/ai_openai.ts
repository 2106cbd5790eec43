export * from "npm:@ai-sdk/openai@4.0.118";
