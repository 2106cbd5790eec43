export { parseConfigYaml } from "npm:@continuedev/config-yaml@1.42.0";
