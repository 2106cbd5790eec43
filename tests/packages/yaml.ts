export { parseAllDocuments, stringify } from "npm:yaml@2.9.1";
