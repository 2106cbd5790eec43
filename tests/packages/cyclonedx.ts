// The validator loads these where they are installed.
import "npm:ajv-formats-draft2019@1.6.1";
import "npm:ajv-formats@3.0.1";
import "npm:ajv@8.20.0";
export { Spec, Validation } from "npm:@cyclonedx/cyclonedx-library@10.3.0";
