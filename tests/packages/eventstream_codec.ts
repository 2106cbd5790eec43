export * from "npm:@smithy/eventstream-codec@4.5.2";
