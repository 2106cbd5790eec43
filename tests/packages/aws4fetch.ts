export * from "npm:aws4fetch@1.0.20";
