export * from "npm:@openai/agents-openai@0.20.0";
